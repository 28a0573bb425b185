"""One layer of a surrogate network: `BinaryLinear`, for any PyTorch network and device.

The layer has a mean `M` for every ±1 weight.
It turns the means `x` of its inputs into those of its neurons:

`h̄ = M x/√N`, `Σ = mean(1 − M²) + mean(M²(1 − x²))`, `x̄ = φ((h̄ + b)/√(n² + sΣ))`

(the deterministic surrogate; `isinglass.torch.surrogate` lists the others).
Gradients flow through `Σ` as well as through `h̄`.

>>> import torch, isinglass as ig
>>> first = ig.torch.BinaryLinear(784, 512, init="two-point", sigma_m2=0.9, seed=1)
>>> last = ig.torch.BinaryLinear(512, 10, source="neurons", tau=1.0, seed=2)
>>> logits = last(first(torch.randn(32, 784)))
>>> logits.shape
torch.Size([32, 10])
>>> torch.nn.functional.cross_entropy(logits, torch.zeros(32, dtype=torch.long)).backward()
>>> first.theta.grad.shape  # of θ, with M = tanh(βθ)
torch.Size([512, 784])
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from .drawing import draw_layer, new_seed
from .moments import VarianceRule, moments
from .parametrisation import Parametrisation
from .response import activated, averaged, sampled
from .surrogate import DEFAULT_NEURONS, Field, LayerRule, Means, Source, Surrogate, hidden_rule, output_rule, parametrisation_of


def _own_precision(device: str) -> AbstractContextManager[object]:
    """Keeps products in the parameters' precision under autocast: half precision would cost `Σ` most of its digits."""
    return torch.autocast(device, enabled=False) if torch.amp.is_autocast_available(device) else nullcontext()


class Signal(NamedTuple):
    """What passes from layer to layer; examples × units."""

    x: Tensor
    """Inputs, neurons, or the means of neurons."""
    deficit: Tensor | None = None
    """`1 − x²` where neurons are random spins; computed from `x` if missing, with fewer digits."""
    field: Tensor | None = None
    """The field without its bias, for a layer above that it is carried to."""
    variance: Tensor | None = None
    """Its variance, of an averaged field."""


class BinaryLinear(nn.Module):
    """A layer of ±1 weights of means `M` and of ±1 neurons.

    Arguments:
        inputs, outputs: the layer's shape.
        surrogate: `deterministic`, `lrt-binary`, `lrt-continuous`, `continuous` or `ste`.
        neuron: `sign`, `probit:α`, `logistic:α`, `erf:a` or `tanh:k`; the surrogate's own by default.
        source: whether the inputs are `data` or `neurons` of a layer below.
        carried: number of layers below whose fields are carried to this one; `respond` passes them on.
        tau: None for a hidden layer; for an output layer `τ`, the scale of its logits.
        means: how the means follow from the parameters `theta`, `M = tanh(βθ)` or `clip(βθ)`.
        init, sigma_m2, sigma_b2: how the means and biases are drawn, as in `isinglass train`.
        variance_gradient: whether gradients flow through `Σ`.
        seed: of the means and biases; taken from PyTorch's generator by default.
    """

    theta: nn.Parameter
    bias: nn.Parameter

    def __init__(
        self,
        inputs: int,
        outputs: int,
        *,
        surrogate: Surrogate = "deterministic",
        neuron: str | None = None,
        source: Literal["data", "neurons"] = "data",
        carried: int = 0,
        tau: float | None = None,
        means: Means = "tanh",
        init: str = "uniform",
        sigma_m2: float | None = None,
        sigma_b2: float | None = None,
        variance_gradient: bool = True,
        seed: int | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        neuron = DEFAULT_NEURONS.get(surrogate, "sign") if neuron is None else neuron
        drawn = draw_layer(
            inputs, outputs, surrogate, neuron, init, sigma_m2, sigma_b2, tau, seed=new_seed() if seed is None else seed
        )
        self._describe(inputs, outputs, surrogate, neuron, Source(source), carried, tau, means, variance_gradient)
        self._fill(*drawn, device=device, dtype=dtype)

    def _describe(
        self,
        inputs: int,
        outputs: int,
        surrogate: str,
        neuron: str,
        source: Source,
        carried: int,
        tau: float | None,
        means: str,
        variance_gradient: bool,
    ) -> None:
        if carried < 0 or (carried > 0 and (inputs != outputs or source is Source.DATA or tau is not None)):
            raise ValueError(
                f"carried = {carried} in a layer of {inputs} inputs and {outputs} outputs: "
                "only hidden layers with as many inputs as outputs, and neurons below, receive a field; use carried=0"
            )
        self.inputs, self.outputs = inputs, outputs
        self.surrogate, self.neuron, self.source, self.carried, self.tau = surrogate, neuron, source, carried, tau
        self.rule: LayerRule = (
            hidden_rule(surrogate, neuron, source, carried) if tau is None else output_rule(surrogate, tau, source)
        )
        self.parametrisation = parametrisation_of(surrogate, means)
        self.variance_gradient = variance_gradient
        self.beta = 1.0

    def _fill(self, means: Tensor, bias: Tensor, *, device: torch.device | str | None, dtype: torch.dtype | None) -> None:
        dtype = dtype or torch.get_default_dtype()
        self.theta = nn.Parameter(self.parametrisation.theta(means).to(device=device, dtype=dtype))
        self.bias = nn.Parameter(bias.to(device=device, dtype=dtype))

    @classmethod
    def _of(
        cls,
        means: Tensor,
        bias: Tensor,
        *,
        surrogate: str,
        neuron: str,
        source: Source,
        carried: int,
        tau: float | None,
        parametrisation: str,
        variance_gradient: bool,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> "BinaryLinear":
        """A layer of given means (outputs × inputs) and biases."""
        layer = cls.__new__(cls)
        nn.Module.__init__(layer)
        outputs, inputs = means.shape
        layer._describe(inputs, outputs, surrogate, neuron, source, carried, tau, parametrisation, variance_gradient)
        layer._fill(means, bias, device=device, dtype=dtype)
        return layer

    @property
    def means(self) -> Tensor:
        """`M`, outputs × inputs; the weights themselves where they are real."""
        return self.parametrisation.means(self.theta, self.beta)

    def set_means(self, means: Tensor) -> None:
        """Sets the means, at `β = 1`."""
        if means.shape != self.theta.shape:
            raise ValueError(f"means of shape {tuple(means.shape)} for a layer of {self.outputs} outputs and {self.inputs} inputs")
        with torch.no_grad():
            self.theta.copy_(self.parametrisation.theta(means))
        self.beta = 1.0

    def clip(self) -> None:
        """Keeps `θ` in `[−1, 1]` where the parametrisation wants it there. Call it after every step of the optimiser; `Polarise.step` does."""
        if self.parametrisation.is_clipped():
            with torch.no_grad():
                self.theta.clamp_(-1, 1)

    def forward(self, x: Tensor, *, noise: Tensor | None = None, generator: torch.Generator | None = None) -> Tensor:
        """The neurons' means (an output layer: the logits) for inputs of shape `(…, inputs)`.

        `noise`, of the output's shape, is the `ε` of sampled surrogates; by default it is drawn, from `generator` if given.
        """
        if x.shape[-1:] != (self.inputs,):
            raise ValueError(f"inputs of shape {tuple(x.shape)}: the last dimension must be {self.inputs}")
        rows = x.reshape(-1, self.inputs).to(self.theta.dtype)
        given = None if noise is None else noise.reshape(-1, self.outputs)
        return self.respond(Signal(rows), noise=given, generator=generator).x.reshape(*x.shape[:-1], self.outputs)

    def respond(self, signal: Signal, *, noise: Tensor | None = None, generator: torch.Generator | None = None) -> Signal:
        """The same with all that passes from layer to layer: `1 − x²` with all its digits, and carried fields."""
        rule = self.rule
        x, deficit, field, variance = signal
        if self.carried == 0:
            field = variance = None
        elif field is None or (rule.field is Field.AVERAGED and variance is None):
            raise ValueError(f"carried = {self.carried}: the layer receives the field of the one below; call respond with the signal of that layer")
        if deficit is None and rule.variance is VarianceRule.SPINS:
            deficit = (1 - x) * (1 + x)
        if not self.variance_gradient:
            deficit = None if deficit is None else deficit.detach()
        with _own_precision(x.device.type):
            field, variance = moments(
                x,
                deficit,
                self.theta,
                rule=rule.variance,
                parametrisation=self.parametrisation,
                beta=self.beta,
                field=field,
                variance=variance if rule.field is Field.AVERAGED else None,
            )
            if variance is not None and not self.variance_gradient:
                variance = variance.detach()
            return self._neurons(field, variance, noise, generator)

    def _neurons(self, field: Tensor, variance: Tensor | None, noise: Tensor | None, generator: torch.Generator | None) -> Signal:
        rule = self.rule
        if rule.field is Field.AVERAGED:
            assert variance is not None, "averaged fields have a variance"
            x, rest = averaged(field, variance, self.bias, noise=rule.noise, spread=rule.spread, activation=rule.activation)
            return Signal(x, rest, field, variance)
        if rule.field is Field.SAMPLED:
            assert variance is not None, "sampled fields have a variance"
            if noise is None:
                noise = torch.randn(field.shape, generator=generator, device=field.device, dtype=field.dtype)
            elif noise.shape != field.shape:
                raise ValueError(f"noise of shape {tuple(noise.shape)} for fields of shape {tuple(field.shape)} (examples × units)")
            field = sampled(field, variance, noise.to(field))
        x, rest = activated(field, self.bias, rule.activation, spins=rule.spins)
        return Signal(x, rest, field)

    def get_extra_state(self) -> Tensor:
        """`β`, beside the parameters in `state_dict`."""
        return torch.tensor(self.beta, dtype=torch.float64)

    def set_extra_state(self, state: Tensor) -> None:
        """Takes `β` from a `state_dict`."""
        self.beta = float(state)

    def extra_repr(self) -> str:
        """Shape and rules."""
        parts = [f"{self.inputs}, {self.outputs}", f"surrogate={self.surrogate}"]
        parts += [f"neuron={self.neuron}"] if self.tau is None else [f"tau={self.tau:g}"]
        parts += [f"carried={self.carried}"] if self.carried else []
        parts += [f"means={self.parametrisation.value}"] if self.parametrisation in (Parametrisation.TANH, Parametrisation.CLIP) else []
        parts += [f"beta={self.beta:g}"] if self.beta != 1 else []
        return ", ".join(parts)
