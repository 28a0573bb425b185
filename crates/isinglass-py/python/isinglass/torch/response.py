"""From the moments of a field to the neuron.

- `averaged`: the deterministic surrogate, `x̄ = φ((h̄ + b)/√(n² + sΣ))`. Where the denominator is exactly 0 nothing is random, and the neuron is `sign(h̄ + b)`.
- `sampled`: local reparameterisation, `h = h̄ + √Σ ε`. Where `Σ` is exactly 0 there is no noise.
- `activated`: `x = φ(h + b)`.

Denominators and variances below `VARIANCE_FLOOR` are raised to it; no gradient passes through those.

>>> import torch
>>> from isinglass.torch.activation import Erf
>>> from isinglass.torch.response import averaged
>>> field, variance = torch.tensor([[0.3, -0.3]]), torch.tensor([[0.5, 0.0]])
>>> x, rest = averaged(field, variance, torch.zeros(2), noise=0.0, spread=1.0, activation=Erf(0.5**0.5))
>>> x  # erf(0.3/√(2 · 0.5)), and the sign
tensor([[ 0.3286, -1.0000]])
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from .activation import Activation, Linear, sign

VARIANCE_FLOOR = 1e-6
"""The smallest variance that divides a field or scales its noise, except for 0 itself."""


def averaged(
    field: Tensor, variance: Tensor, bias: Tensor, *, noise: float, spread: float, activation: Activation
) -> tuple[Tensor, Tensor | None]:
    """`x̄ = φ((h̄ + b)/√(noise + spread·Σ))` and, unless it is an output, `1 − x̄²`."""
    result: tuple[Tensor, Tensor | None] = _Averaged.apply(field, variance, bias, noise, spread, activation)
    return result


def sampled(field: Tensor, variance: Tensor, noise: Tensor) -> Tensor:
    """`h̄ + √Σ ε`."""
    result: Tensor = _Sampled.apply(field, variance, noise)
    return result


def activated(field: Tensor, bias: Tensor, activation: Activation, *, spins: bool) -> tuple[Tensor, Tensor | None]:
    """`x = φ(h + b)` and, if neurons are random spins of mean `x`, `1 − x²`."""
    result: tuple[Tensor, Tensor | None] = _Activated.apply(field, bias, activation, spins)
    return result


def _may_be_below(values: Tensor, floor: float) -> bool:
    """Whether values may be below the floor. On a CPU one look saves the masks; elsewhere it would wait for the device, and masks are cheap."""
    return values.device.type != "cpu" or (values.numel() > 0 and bool(values.min() < floor))


def _by_field(activation: Activation, z: Tensor, x: Tensor, by_x: Tensor | None, by_rest: Tensor | None) -> Tensor:
    """The gradient of `z`, from those of `f(z)` and `1 − f(z)²`."""
    total = torch.zeros_like(x) if by_x is None else by_x
    if by_rest is not None:
        total = torch.addcmul(total, x, by_rest, value=-2)
    return total.clone() if isinstance(activation, Linear) else activation.slope(z).mul_(total)


class _Averaged(Function):
    @staticmethod
    def forward(
        ctx: Any, field: Tensor, variance: Tensor, bias: Tensor, noise: float, spread: float, activation: Activation
    ) -> tuple[Tensor, Tensor | None]:
        # All over the squared gain, so that z = gain·h is one product.
        squared = activation.gain**2
        floor = VARIANCE_FLOOR / squared
        denominator = variance * (spread / squared)
        if noise > 0:
            denominator += noise / squared
        mean = field + bias
        below = limit = rest = None
        if _may_be_below(denominator, floor):
            below, limit = denominator < floor, denominator <= 0
            denominator = denominator.clamp_(min=floor)
        by_root = denominator.rsqrt_()
        z = mean * by_root
        if isinstance(activation, Linear):
            x = activation.value(z)
        else:
            x, rest = activation.respond(z)
            if limit is not None:
                x = torch.where(limit, sign(mean), x)
                rest = rest.masked_fill_(limit, 0)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(z, by_root, x, below, limit)
        ctx.spread, ctx.activation = spread / squared, activation
        return x, rest

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        z, by_root, x, below, limit = ctx.saved_tensors
        by_z = _by_field(ctx.activation, z, x, *gradients)
        if limit is not None:
            by_z.masked_fill_(limit, 0)
        by_mean = by_z.mul_(by_root)
        by_variance = None
        if ctx.needs_input_grad[1]:
            # z = h̄/√d: ∂z/∂Σ = −s z/(2d).
            by_variance = (by_mean * z).mul_(by_root).mul_(-0.5 * ctx.spread)
            if below is not None:
                by_variance.masked_fill_(below, 0)
        return by_mean, by_variance, by_mean.sum(0), None, None, None


class _Sampled(Function):
    @staticmethod
    def forward(ctx: Any, field: Tensor, variance: Tensor, noise: Tensor) -> Tensor:
        below, deviation = None, variance.sqrt()
        if _may_be_below(variance, VARIANCE_FLOOR):
            below = variance < VARIANCE_FLOOR
            deviation = deviation.clamp_(min=VARIANCE_FLOOR**0.5)
        h = torch.addcmul(field, deviation, noise)
        ctx.save_for_backward(noise, deviation, below)
        return h if below is None else torch.where(variance > 0, h, field)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (by_h,) = gradients
        noise, deviation, below = ctx.saved_tensors
        by_variance = None
        if ctx.needs_input_grad[1]:
            by_variance = (by_h * noise).div_(deviation).mul_(0.5)
            if below is not None:
                by_variance.masked_fill_(below, 0)
        return by_h, by_variance, None


class _Activated(Function):
    @staticmethod
    def forward(ctx: Any, field: Tensor, bias: Tensor, activation: Activation, spins: bool) -> tuple[Tensor, Tensor | None]:
        z = field + bias
        if activation.gain != 1:
            z *= activation.gain
        x, rest = activation.respond(z) if spins else (activation.value(z), None)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(z, x)
        ctx.activation = activation
        return x, rest

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        z, x = ctx.saved_tensors
        by_field = _by_field(ctx.activation, z, x, *gradients)
        if ctx.activation.gain != 1:
            by_field *= ctx.activation.gain
        return by_field, by_field.sum(0), None, None
