"""Which initialisation to use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, overload

from .. import _native
from .._checks import whole
from .._figure import Figure, method
from ._answer import Exponents, Network, Slopes, Variances, make


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Recommendation(Slopes, Variances):
    """An initialisation, and the factors by which signal and gradient change over the depth."""

    signal: float | None
    gradient: float | None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CarriedRecommendation(Exponents, Variances):
    """An initialisation for carried fields, and what is left after all layers of two signals of variance 1 and correlation 0.5."""

    q: float | None
    c: float | None
    signal: float | None
    gradient: float | None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Advice(Network):
    """Which σ_m² and σ_b² to use: the best, and the smallest that suffices (None if none does).

    `answer` says it in a sentence, `verdict` in more.
    """

    answer: str
    depth: int
    reach: float
    critical_exists: bool
    max_depth: float | None
    best: Recommendation
    smallest: Recommendation | None
    verdict: str
    _native: Any = field(repr=False, compare=False)

    def plot(self) -> Figure:
        """How deep signals reach as the variance changes."""
        return Figure(method(self._native))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CarriedAdvice(Network):
    """Whether to carry fields (needed, helpful or unneeded), and what is then left after all layers.

    `answer` says it in a sentence, `verdict` in more.
    """

    answer: str
    depth: int
    reach: float
    carry: str
    reaches: bool
    plain_depth: float | None
    plain_max_depth: float | None
    carried: CarriedRecommendation
    verdict: str
    _native: Any = field(repr=False, compare=False)

    def plot(self) -> Figure:
        """What is left of a signal over the depth, carried and plain."""
        return Figure(method(self._native))


@overload
def advise(
    model: str = ...,
    neuron: str = ...,
    *,
    depth: int,
    reach: float = ...,
    carry: Literal[False] = ...,
    sigma_m2: float | None = ...,
    sigma_w2: float | None = ...,
) -> Advice: ...
@overload
def advise(
    model: str = ...,
    neuron: str = ...,
    *,
    depth: int,
    reach: float = ...,
    carry: Literal[True],
    sigma_m2: float | None = ...,
    sigma_w2: float | None = ...,
) -> CarriedAdvice: ...
def advise(
    model: str = "deterministic",
    neuron: str = "sign",
    *,
    depth: int,
    reach: float = 3.0,
    carry: bool = False,
    sigma_m2: float | None = None,
    sigma_w2: float | None = None,
) -> Advice | CarriedAdvice:
    """Which initialisation for this depth, and how much of the signal is left at the end?

    >>> import isinglass as ig
    >>> advice = ig.theory.advise("deterministic", neuron="erf:1", depth=40)
    >>> advice.critical_exists, round(advice.best.sigma_m2, 4)
    (True, 0.7854)
    """
    if not carry and (sigma_m2 is not None or sigma_w2 is not None):
        raise ValueError("sigma_m2 and sigma_w2 are for carry=True: plain advice chooses the variance itself")
    answer = _native.theory_advise(model, neuron, whole("depth", depth), reach, carry, sigma_m2, sigma_w2)
    values = answer.values
    if carry:
        values["carried"] = make(CarriedRecommendation, values["carried"])
        return make(CarriedAdvice, values, _native=answer)
    values["best"] = make(Recommendation, values["best"])
    values["smallest"] = None if values["smallest"] is None else make(Recommendation, values["smallest"])
    return make(Advice, values, _native=answer)
