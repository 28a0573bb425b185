"""Surrogates and neurons by the engine's names, and what they make of a layer.

| surrogate | weights | field | neuron |
|---|---|---|---|
| `deterministic` | mean `M` | `h = h̄/√(n² + sΣ)` | `x̄ = φ(h)` |
| `lrt-binary` | mean `M` | `h = h̄ + √Σ ε` | `x̄ = φ(h)`, the mean of a ±1 neuron |
| `lrt-continuous` | mean `M` | `h = h̄ + √Σ ε` | `x = φ(h)`, a real number |
| `continuous` | real | `h = h̄` | `x = φ(h)` |
| `ste` | `sign(M)` | `h = h̄` | `x = sign(h)`, backward as if it were the identity on `[−1, 1]` |

Neurons are `sign`, `probit:α`, `logistic:α`, `erf:a` and `tanh:k`.

>>> from isinglass.torch.surrogate import Source, hidden_rule
>>> rule = hidden_rule("deterministic", "logistic:0.5", Source.NEURONS)
>>> rule.activation, rule.noise, round(rule.spread, 4)
(Tanh(gain=1.0), 0.25, 1.5708)
"""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Literal, TypeAlias

from .activation import Activation, Erf, Linear, Step, Tanh
from .moments import VarianceRule
from .parametrisation import Parametrisation

Surrogate: TypeAlias = Literal["deterministic", "lrt-binary", "lrt-continuous", "continuous", "ste"]
Means: TypeAlias = Literal["tanh", "clip"]

DEFAULT_NEURONS: dict[str, str] = {
    "deterministic": "sign",
    "lrt-binary": "logistic:1",
    "lrt-continuous": "tanh:1",
    "continuous": "tanh:1",
    "ste": "sign",
}


class Source(Enum):
    """Where the inputs of a layer come from."""

    DATA = "data"
    NEURONS = "neurons"


class Field(Enum):
    """How the field follows from `h̄` and `Σ`."""

    AVERAGED = "averaged"
    SAMPLED = "sampled"
    PLAIN = "plain"


@dataclass(frozen=True)
class LayerRule:
    """What a layer computes."""

    variance: VarianceRule
    field: Field
    activation: Activation
    noise: float = 0.0
    """`n²`, of an averaged field."""
    spread: float = 1.0
    """`s`, of an averaged field."""
    spins: bool = False
    """Whether its neurons are random spins, known by their means."""

    @property
    def is_output(self) -> bool:
        """Whether the layer gives logits."""
        return isinstance(self.activation, Linear)


def has_binary_weights(surrogate: str) -> bool:
    """Whether there are ±1 weights behind the surrogate."""
    return surrogate != "continuous"


def has_binary_neurons(surrogate: str) -> bool:
    """Whether there are ±1 neurons behind the surrogate."""
    return surrogate in ("deterministic", "lrt-binary", "ste")


def parametrisation_of(surrogate: str, means: str) -> Parametrisation:
    """What the optimiser moves; the choice of `means` is for surrogates with means."""
    if means not in ("tanh", "clip"):
        raise ValueError(f"means {means!r}: use 'tanh' or 'clip'")
    if surrogate == "continuous":
        return Parametrisation.FREE
    return Parametrisation.SIGN if surrogate == "ste" else Parametrisation(means)


def activation_of(neuron: str) -> Activation:
    """`φ` of a neuron by itself: the mean of its state at a given field."""
    name, gain = parse_neuron(neuron)
    match name:
        case "probit":
            return Erf(1 / (gain * math.sqrt(2)))
        case "logistic":
            return Tanh(1 / gain)
        case "erf":
            return Erf(gain)
        case "tanh":
            return Tanh(gain)
        case _:
            return Step(1.0)


def parse_neuron(neuron: str) -> tuple[str, float]:
    """The name of a neuron and its parameter, 1 if it has none."""
    name, _, parameter = neuron.partition(":")
    try:
        gain = float(parameter) if parameter else 1.0
    except ValueError:
        gain = math.nan
    if name not in ("sign", "probit", "logistic", "erf", "tanh") or not gain > 0:
        raise ValueError(f"neuron {neuron!r}: use sign, probit:α, logistic:α, erf:a or tanh:k, with a number above 0")
    return name, gain


def hidden_rule(surrogate: str, neuron: str, source: Source, carried: int = 0) -> LayerRule:
    """The rule of a hidden layer to which the fields of `carried` layers below are carried."""
    variance = _variance_rule(surrogate, source)
    match surrogate:
        case "deterministic":
            # Appendix A: the field's own spread widens the neuron's.
            name, alpha = parse_neuron(neuron)
            activation, noise, spread = activation_of(neuron), 0.0, 1.0
            if name in ("sign", "probit"):
                activation, noise = Erf(math.sqrt(0.5)), alpha**2 if name == "probit" else 0.0
            elif name == "logistic":
                activation, noise, spread = Tanh(1.0), alpha**2, math.pi / 2
            return LayerRule(variance, Field.AVERAGED, activation, noise, spread, spins=True)
        case "lrt-binary" | "lrt-continuous":
            return LayerRule(variance, Field.SAMPLED, activation_of(neuron), spins=surrogate == "lrt-binary")
        case "continuous":
            return LayerRule(variance, Field.PLAIN, activation_of(neuron))
        case "ste":
            # A sum of k fields has a variance of k: the identity's window grows with it.
            return LayerRule(variance, Field.PLAIN, Step(math.sqrt(carried + 1)))
        case _:
            raise ValueError(f"surrogate {surrogate!r}: use {', '.join(DEFAULT_NEURONS)}")


def output_rule(surrogate: str, tau: float, source: Source) -> LayerRule:
    """The rule of an output layer: `τh̄/√(1 + πτ²Σ/8)` is a field averaged with noise 1 and spread `πτ²/8`."""
    variance = _variance_rule(surrogate, source)
    match surrogate:
        case "deterministic":
            return LayerRule(variance, Field.AVERAGED, Linear(tau), 1.0, math.pi * tau**2 / 8)
        case "lrt-binary" | "lrt-continuous":
            return LayerRule(variance, Field.SAMPLED, Linear(tau))
        case _:
            return LayerRule(variance, Field.PLAIN, Linear(tau))


def _variance_rule(surrogate: str, source: Source) -> VarianceRule:
    """Inputs are random spins unless they are data or continuous neurons."""
    if surrogate in ("continuous", "ste"):
        return VarianceRule.NONE
    if surrogate == "lrt-continuous" or source is Source.DATA:
        return VarianceRule.NUMBERS
    return VarianceRule.SPINS
