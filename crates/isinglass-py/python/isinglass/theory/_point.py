"""One initialisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, overload

from .. import _native
from ._answer import Exponents, Network, Slopes, Variances, make


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Point(Slopes, Variances, Network):
    """Fixed points, slopes, depth scales and the phase at one initialisation. What diverges or does not exist is None."""

    verdict: str


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CarriedPoint(Exponents, Variances, Network):
    """The same where fields are carried: exponents in place of depth scales."""

    carry: bool
    verdict: str


@overload
def point(
    model: str = ...,
    neuron: str = ...,
    *,
    sigma_m2: float | None = ...,
    sigma_w2: float | None = ...,
    sigma_b2: float = ...,
    carry: Literal[False] = ...,
) -> Point: ...
@overload
def point(
    model: str = ...,
    neuron: str = ...,
    *,
    sigma_m2: float | None = ...,
    sigma_w2: float | None = ...,
    sigma_b2: float = ...,
    carry: Literal[True],
) -> CarriedPoint: ...
def point(
    model: str = "deterministic",
    neuron: str = "sign",
    *,
    sigma_m2: float | None = None,
    sigma_w2: float | None = None,
    sigma_b2: float = 0.0,
    carry: bool = False,
) -> Point | CarriedPoint:
    """Where do variance and correlation settle, how fast, and in which phase is the network?

    >>> import isinglass as ig
    >>> ig.theory.point("continuous", "tanh", sigma_w2=1.76, sigma_b2=0.05).phase
    'ordered'
    """
    values = _native.theory_point(model, neuron, sigma_m2, sigma_w2, sigma_b2, carry).values
    return make(CarriedPoint, values) if carry else make(Point, values)
