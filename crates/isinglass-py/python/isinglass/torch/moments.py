"""Mean and variance of a layer's fields.

`h̄ = M x/√N`, and with `Σ` the variance of the field of ±1 weights of means `M`:

| rule | inputs `x` | `Σ` |
|---|---|---|
| `SPINS` | means of random spins | `mean(1 − M²) + mean(M²(1 − x²))` |
| `NUMBERS` | given numbers | `mean((1 − M²) x²)` |
| `NONE` | any | none |

`Σ` is a sum of small terms, not the difference `1 − mean(M²x²)`, which would cancel once means and neurons polarise.
The backward pass, four products, is written by hand: autograd would make more passes over matrices of the weights' size.
It cannot be differentiated a second time.

>>> import torch
>>> from isinglass.torch.moments import VarianceRule, moments
>>> from isinglass.torch.parametrisation import Parametrisation
>>> x, theta = torch.tensor([[0.6, -0.8]]), torch.tensor([[0.5, 1.0]])
>>> field, variance = moments(x, 1 - x * x, theta, rule=VarianceRule.SPINS, parametrisation=Parametrisation.CLIP, beta=1.0)
>>> field, variance  # (0.3 − 0.8)/√2 and 1 − (0.09 + 0.64)/2
(tensor([[-0.3536]]), tensor([[0.6350]]))
"""

from enum import Enum
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from .parametrisation import Parametrisation


class VarianceRule(Enum):
    """How the inputs add to `Σ`."""

    NONE = "none"
    SPINS = "spins"
    NUMBERS = "numbers"


def moments(
    x: Tensor,
    deficit: Tensor | None,
    theta: Tensor,
    *,
    rule: VarianceRule,
    parametrisation: Parametrisation,
    beta: float,
    field: Tensor | None = None,
    variance: Tensor | None = None,
) -> tuple[Tensor, Tensor | None]:
    """`h̄` without biases, and `Σ` (None without a variance); both examples × units.

    `x` is examples × inputs, `deficit` its `1 − x²` (needed for spins only), `theta` units × inputs.
    `field` and `variance`, examples × units, are carried from the layer below and added.
    """
    result: tuple[Tensor, Tensor | None] = _Moments.apply(x, deficit, theta, field, variance, rule, parametrisation, beta)
    return result


class _Moments(Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        deficit: Tensor | None,
        theta: Tensor,
        field: Tensor | None,
        variance: Tensor | None,
        rule: VarianceRule,
        parametrisation: Parametrisation,
        beta: float,
    ) -> tuple[Tensor, Tensor | None]:
        inputs = x.shape[1]
        by_root, by_n = inputs**-0.5, 1 / inputs
        means = parametrisation.means(theta, beta)
        # 1 − M²: also the slope of tanh.
        rest, squares = None, None
        if rule is not VarianceRule.NONE or parametrisation is Parametrisation.TANH:
            rest = parametrisation.deficit(theta, means, beta)
        out_field = x.mm(means.t()).mul_(by_root)
        if field is not None:
            # Rounded before it is added, as in the engine: equal and opposite sums of ±1 cancel.
            out_field += field
        out_variance = None
        if rule is VarianceRule.SPINS:
            assert deficit is not None and rest is not None, "spins have a variance"
            squares = means * means
            own = rest.mean(1)
            out_variance = torch.addmm(own if variance is None else variance + own, deficit, squares.t(), alpha=by_n)
        elif rule is VarianceRule.NUMBERS:
            assert rest is not None, "computed above"
            out_variance = (x * x).mm(rest.t()).mul_(by_n)
            if variance is not None:
                out_variance += variance
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, deficit, means, rest, squares)
        ctx.rule, ctx.parametrisation, ctx.slope = rule, parametrisation, parametrisation.slope(beta)
        return out_field, out_variance

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        p, q = gradients
        x, deficit, means, rest, squares = ctx.saved_tensors
        by_x = by_deficit = by_theta = None
        by_root, by_n = means.shape[1] ** -0.5, 1 / means.shape[1]
        spins = ctx.rule is VarianceRule.SPINS
        if p is not None and ctx.needs_input_grad[0]:
            by_x = p.mm(means).mul_(by_root)
        if q is not None and not spins and ctx.needs_input_grad[0]:
            through_variance = q.mm(rest).mul_(x).mul_(2 * by_n)
            by_x = through_variance if by_x is None else by_x.add_(through_variance)
        if q is not None and spins and ctx.needs_input_grad[1]:
            by_deficit = q.mm(squares).mul_(by_n)
        if ctx.needs_input_grad[2]:
            by_theta = torch.zeros_like(means) if p is None else (p * (by_root * ctx.slope)).t().mm(x)
            if q is not None:
                # Both rules have ∂Σ/∂M = −2M x²/N.
                second = 1 - deficit if spins else x * x
                by_theta.addcmul_(means, q.t().mm(second), value=-2 * by_n * ctx.slope)
            if ctx.parametrisation is Parametrisation.TANH:
                by_theta.mul_(rest)
        return by_x, by_deficit, by_theta, p if ctx.needs_input_grad[3] else None, q if ctx.needs_input_grad[4] else None, None, None, None
