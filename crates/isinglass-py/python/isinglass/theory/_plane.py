"""The plane of initialisations: where it is critical, and how the theory looks over all of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from .. import _native
from .._checks import threads_or_all, whole
from .._extras import require
from .._figure import Figure, method
from ._answer import Floats, Network, column, make


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CriticalLine(Network):
    """All critical initialisations, and which of them can be used."""

    exists: bool
    reachable: bool
    q: Floats
    sigma2: Floats = field(metadata={"doc": "σ_m² or σ_w²"})
    sigma_b2: Floats
    allowed: NDArray[np.bool_]
    verdict: str
    _native: Any = field(repr=False, compare=False)

    def plot(self) -> Figure:
        """The line in the plane of initialisations."""
        return Figure(method(self._native))

    def _repr_html_(self) -> str:
        return super()._repr_html_() + self.plot()._repr_svg_()


def critical_line(
    model: str = "deterministic", neuron: str = "sign", *, q: tuple[float, float] = (1e-10, 100.0), points: int = 25
) -> CriticalLine:
    """Where is the network critical, and can that be used?

    >>> import isinglass as ig
    >>> ig.theory.critical_line("deterministic", "probit:1").reachable
    False
    """
    answer = _native.theory_critical_line(model, neuron, q, whole("points", points))
    values = answer.values
    rows: list[dict[str, Any]] = values["points"]
    key = next((name for name in ("sigma_m2", "sigma_w2") if rows and name in rows[0]), None)
    sigma2 = column(rows, key) if key else np.full(len(rows), np.nan)
    arrays = {"q": column(rows, "q"), "sigma2": sigma2, "sigma_b2": column(rows, "sigma_b2")}
    allowed = np.array([row["allowed"] for row in rows], dtype=np.bool_)
    return make(CriticalLine, {name: values[name] for name in ("model", "neuron", "exists", "reachable", "verdict")}, allowed=allowed, _native=answer, **arrays)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PhaseDiagram(Network):
    """χ₁ and ξ_c over the plane of initialisations: `chi_1[row, column]` belongs to `y[row]` (σ_b²) and `x[column]` (σ_m² or σ_w²). Not allowed points are NaN."""

    x: Floats
    y: Floats
    chi_1: Floats
    xi_c: Floats = field(metadata={"doc": "NaN unless quantity is xi_c"})
    q_star: Floats
    phase: NDArray[np.str_] = field(metadata={"doc": "empty where the point is not allowed"})
    critical_line: Floats = field(metadata={"doc": "rows of σ² and σ_b²"})
    verdict: str
    quantity: str
    _native: Any = field(repr=False, compare=False)

    def plot(self, ax: Any = None) -> Figure:
        """The chart of ``isinglass theory phase-diagram``. With `ax`, also draws the values into axes of matplotlib."""
        if ax is not None:
            _draw_plane(ax, self.x, self.y, self.xi_c if self.quantity == "xi_c" else self.chi_1, self.quantity)
        return Figure(method(self._native))

    def _repr_html_(self) -> str:
        return self.plot()._repr_svg_() + f"<p>{self.verdict}</p>"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CarriedPhaseDiagram(Network):
    """What is left of gradient and signal after `depth` layers of carried fields, over the same plane."""

    depth: int
    x: Floats
    y: Floats
    q: Floats
    gradient: Floats
    signal: Floats = field(metadata={"doc": "NaN unless quantity is signal"})
    verdict: str
    quantity: str
    _native: Any = field(repr=False, compare=False)

    def plot(self, ax: Any = None) -> Figure:
        """The chart of ``isinglass theory phase-diagram --carry``. With `ax`, also draws the values into axes of matplotlib."""
        if ax is not None:
            _draw_plane(ax, self.x, self.y, self.signal if self.quantity == "signal" else self.gradient, self.quantity)
        return Figure(method(self._native))

    def _repr_html_(self) -> str:
        return self.plot()._repr_svg_() + f"<p>{self.verdict}</p>"


def _draw_plane(ax: Any, x: Floats, y: Floats, values: Floats, label: str) -> None:
    require("matplotlib")
    mesh = ax.pcolormesh(x, y, values, shading="nearest")
    ax.set_xlabel("variance of the weights")
    ax.set_ylabel("σ_b²")
    ax.figure.colorbar(mesh, ax=ax, label=label)


def _axis(values: tuple[float, float] | tuple[float, float, int] | None, name: str) -> tuple[tuple[float, float] | None, int]:
    match values:
        case None:
            return None, 200
        case (low, high):
            return (low, high), 200
        case (low, high, count):
            return (low, high), whole(f"points along {name}", count)
    raise ValueError(f"{name} is (low, high) or (low, high, number of points)")


@overload
def phase_diagram(
    model: str = ...,
    neuron: str = ...,
    x: tuple[float, float] | tuple[float, float, int] | None = ...,
    y: tuple[float, float] | tuple[float, float, int] = ...,
    *,
    quantity: str | None = ...,
    carry: Literal[False] = ...,
    depth: int | None = ...,
    threads: int | None = ...,
) -> PhaseDiagram: ...
@overload
def phase_diagram(
    model: str = ...,
    neuron: str = ...,
    x: tuple[float, float] | tuple[float, float, int] | None = ...,
    y: tuple[float, float] | tuple[float, float, int] = ...,
    *,
    quantity: str | None = ...,
    carry: Literal[True],
    depth: int | None = ...,
    threads: int | None = ...,
) -> CarriedPhaseDiagram: ...
def phase_diagram(
    model: str = "deterministic",
    neuron: str = "sign",
    x: tuple[float, float] | tuple[float, float, int] | None = None,
    y: tuple[float, float] | tuple[float, float, int] = (0.0, 0.5, 200),
    *,
    quantity: str | None = None,
    carry: bool = False,
    depth: int | None = None,
    threads: int | None = None,
) -> PhaseDiagram | CarriedPhaseDiagram:
    """How do χ₁ (or with ``quantity="xi_c"`` ξ_c) look over the whole plane?

    `x` is the range of σ_m² (or σ_w²) with its number of points, `y` that of σ_b². With `carry`: what is left after `depth` layers of the gradient, or with ``quantity="signal"`` of the signal.

    >>> import isinglass as ig
    >>> diagram = ig.theory.phase_diagram("deterministic", "sign", x=(0, 2, 40), y=(1e-6, 1, 20))
    >>> diagram.chi_1.shape, str(diagram.phase[0, 0])
    ((20, 40), 'ordered')
    """
    x_range, columns = _axis(x, "x")
    y_range, rows = _axis(y, "y")
    assert y_range is not None
    if depth is not None and not carry:
        raise ValueError("depth is for carry=True: a plain diagram shows what happens in every layer")
    plane = _native.theory_phase_diagram(model, neuron, x_range, columns, y_range, rows, quantity, carry, None if depth is None else whole("depth", depth), threads_or_all(threads))
    facts, arrays = plane.values, plane.columns
    common: dict[str, Any] = {**arrays, "model": model, "neuron": facts["neuron"], "x": plane.x, "y": plane.y, "verdict": facts["verdict"], "_native": plane}
    if carry:
        return CarriedPhaseDiagram(**common, depth=facts["depth"], quantity=quantity or "gradient")
    names = np.array([*facts["phases"], ""])
    line = np.array(facts["critical_line"], dtype=np.float64).reshape(-1, 2)
    return PhaseDiagram(**common, phase=names[plane.phases], critical_line=line, quantity=quantity or "chi_1")
