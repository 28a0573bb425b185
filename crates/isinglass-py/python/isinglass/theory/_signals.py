"""Two signals: layer by layer, and through one layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _native
from .._checks import whole
from .._extras import require
from .._figure import Figure, method
from ._answer import Floats, Network, Variances, column, make


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Trajectory(Variances, Network):
    """Two signals, layer by layer; layer 0 is the start."""

    layer: NDArray[np.int64]
    q_a: Floats
    q_b: Floats
    c: Floats
    one_minus_c: Floats
    _native: Any = field(repr=False, compare=False)

    def plot(self) -> Figure:
        """Variances and correlation over the layers."""
        return Figure(method(self._native))

    def to_pandas(self) -> Any:
        """A row per layer, as a pandas DataFrame."""
        arrays = {name: value for name, value in self.to_dict().items() if isinstance(value, np.ndarray)}
        return require("pandas").DataFrame(arrays)

    def _repr_html_(self) -> str:
        return super()._repr_html_() + self.plot()._repr_svg_()


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CarriedTrajectory(Trajectory):
    """The same where every layer adds its field to the one before: v is the variance of what is carried, spread its Σ."""

    v_a: Floats
    v_b: Floats
    spread_a: Floats
    spread_b: Floats


def trajectory(
    model: str = "deterministic",
    neuron: str = "sign",
    *,
    sigma_m2: float | None = None,
    sigma_w2: float | None = None,
    sigma_b2: float = 0.0,
    depth: int = 30,
    q_a: float | None = None,
    q_b: float | None = None,
    c: float = 0.5,
    one_minus_c: float | None = None,
    input_variance: float | tuple[float, float] | None = None,
    carry: bool = False,
) -> Trajectory:
    """What happens to two signals, layer by layer?

    >>> import isinglass as ig
    >>> signals = ig.theory.trajectory("lrt-continuous", "tanh", sigma_m2=0.99, depth=60)
    >>> len(signals.c), bool(signals.c[-1] < signals.c[0])
    (61, True)
    """
    inputs = None if input_variance is None else [float(value) for value in np.atleast_1d(input_variance)]
    if inputs is not None and (q_a is not None or q_b is not None):
        raise ValueError("input_variance starts from inputs, q_a and q_b from fields: leave out one or the other")
    answer = _native.theory_trajectory(model, neuron, sigma_m2, sigma_w2, sigma_b2, carry, whole("depth", depth), q_a, q_b, c, one_minus_c, inputs)
    values = answer.values
    rows: list[dict[str, Any]] = values["layers"]
    arrays = {name: column(rows, name) for name in rows[0] if name != "layer"}
    layer = np.array([row["layer"] for row in rows], dtype=np.int64)
    return make(CarriedTrajectory if carry else Trajectory, values, layer=layer, _native=answer, **arrays)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CorrelationMap(Variances, Network):
    """The correlation map of one layer, with the variance at its fixed point."""

    q_star: float | None
    c_in: Floats
    c_out: Floats
    one_minus_c_in: Floats
    one_minus_c_out: Floats
    _native: Any = field(repr=False, compare=False)

    def plot(self) -> Figure:
        """The map with the diagonal, on which its fixed points lie."""
        return Figure(method(self._native))

    def _repr_html_(self) -> str:
        return super()._repr_html_() + self.plot()._repr_svg_()


def correlation_map(
    model: str = "deterministic",
    neuron: str = "sign",
    *,
    sigma_m2: float | None = None,
    sigma_w2: float | None = None,
    sigma_b2: float = 0.0,
    c: Sequence[float] | Floats | None = None,
    points: int = 21,
) -> CorrelationMap:
    """How does one layer change the correlation of two signals?

    >>> import isinglass as ig
    >>> ig.theory.correlation_map("binary", c=[0.0, 1.0]).c_out.tolist()
    [0.0, 1.0]
    """
    correlations = None if c is None else [float(value) for value in c]
    answer = _native.theory_map(model, neuron, sigma_m2, sigma_w2, sigma_b2, correlations, whole("points", points))
    values = answer.values
    rows: list[dict[str, Any]] = values["map"]
    arrays = {name: column(rows, name) for name in ("c_in", "c_out", "one_minus_c_in", "one_minus_c_out")}
    return make(CorrelationMap, values, _native=answer, **arrays)
