"""How signals travel through a random network, before any training.

The functions ask the questions of ``isinglass theory`` and give the same numbers. Models are continuous, deterministic, lrt-binary, lrt-continuous, binary,
stochastic-binary, stochastic-weights and stochastic-neurons; neurons are sign, probit:α, logistic:α, erf:a and tanh:k, and for the continuous model relu and linear.

>>> import isinglass as ig
>>> point = ig.theory.point("deterministic", neuron="sign", sigma_m2=0.9, sigma_b2=0.001)
>>> point.phase, round(point.chi_1, 6)
('ordered', 0.572387)
>>> ig.theory.advise("deterministic", neuron="sign", depth=40).critical_exists
False

What cannot be is a ``ValueError`` that says why:

>>> ig.theory.point("deterministic", sigma_m2=1.2)
Traceback (most recent call last):
ValueError: σ_m² = 1.2: the variance of means in [-1, 1] cannot exceed 1
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from . import _native, _table
from ._extras import require
from ._figure import Figure, method

__all__ = [
    "Advice",
    "CarriedAdvice",
    "CarriedPhaseDiagram",
    "CarriedPoint",
    "CarriedRecommendation",
    "CarriedTrajectory",
    "CorrelationMap",
    "CriticalLine",
    "PhaseDiagram",
    "Point",
    "Recommendation",
    "Trajectory",
    "advise",
    "correlation_map",
    "critical_line",
    "phase_diagram",
    "point",
    "trajectory",
]

Floats = NDArray[np.float64]


class _Answer:
    """What the answers share: a dictionary, a table, and a picture where there is one."""

    def to_dict(self) -> dict[str, Any]:
        """The values, under the names that ``--format json`` prints."""
        values = {item.name: getattr(self, item.name) for item in _shown(self)}
        return {name: value.to_dict() if isinstance(value, _Answer) else value for name, value in values.items() if not _is_missing(name, value)}

    def _facts(self) -> dict[str, Any]:
        facts = {name: value for name, value in self.to_dict().items() if not isinstance(value, (np.ndarray, list))}
        flat: dict[str, Any] = {}
        for name, value in facts.items():
            flat.update({f"{name}.{key}": inner for key, inner in value.items()} if isinstance(value, dict) else {name: value})
        return flat

    def _repr_html_(self) -> str:
        return _table.facts_html(self._facts())

    def __str__(self) -> str:
        return _table.facts_text(self._facts())


def _shown(answer: Any) -> Iterator[dataclasses.Field[Any]]:
    return (item for item in dataclasses.fields(answer) if item.repr)


def _is_missing(name: str, value: Any) -> bool:
    """A model has one variance of weights, or none."""
    return value is None and name in ("sigma_m2", "sigma_w2")


T = TypeVar("T")


def _make(kind: type[T], values: Mapping[str, Any], **others: Any) -> T:
    """An object from the values that belong to it."""
    names = {item.name for item in dataclasses.fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in values.items() if name in names}, **others)


def _columns(rows: Sequence[Mapping[str, Any]], name: str) -> Floats:
    return np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=np.float64)


# Points


@dataclass(frozen=True, kw_only=True)
class Point(_Answer):
    """Fixed points, slopes, depth scales and the phase at one initialisation. What diverges or does not exist is None."""

    model: str
    neuron: str
    sigma_m2: float | None = None
    sigma_w2: float | None = None
    sigma_b2: float
    q_star: float | None
    c_star: float | None
    one_minus_c_star: float | None
    chi_1: float | None
    chi: float | None
    xi_1: float | None
    xi_q: float | None
    xi_c: float | None
    dq: float | None
    phase: str
    verdict: str


@dataclass(frozen=True, kw_only=True)
class CarriedPoint(_Answer):
    """The same where fields are carried: exponents in place of depth scales."""

    model: str
    neuron: str
    sigma_m2: float | None = None
    sigma_w2: float | None = None
    sigma_b2: float
    carry: bool
    q_star: float | None
    growth: float | None
    c_star: float | None
    chi_1: float | None
    chi: float | None
    dq: float | None
    q_exponent: float | None
    c_exponent: float | None
    gradient_depth_exponent: float | None
    gradient_layer_exponent: float | None
    gradient_root_rate: float | None
    phase: str
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
    return _make(CarriedPoint, values) if carry else _make(Point, values)


# Trajectories


@dataclass(frozen=True, kw_only=True)
class Trajectory(_Answer):
    """Two signals, layer by layer; layer 0 is the start."""

    model: str
    neuron: str
    sigma_m2: float | None = None
    sigma_w2: float | None = None
    sigma_b2: float
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
        return super()._repr_html_() + self.plot().svg


@dataclass(frozen=True, kw_only=True)
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
    answer = _native.theory_trajectory(model, neuron, sigma_m2, sigma_w2, sigma_b2, carry, depth, q_a, q_b, c, one_minus_c, inputs)
    values = answer.values
    rows: list[dict[str, Any]] = values["layers"]
    arrays = {name: _columns(rows, name) for name in rows[0] if name != "layer"}
    layer = np.array([row["layer"] for row in rows], dtype=np.int64)
    return _make(CarriedTrajectory if carry else Trajectory, values, layer=layer, _native=answer, **arrays)


# Correlation maps


@dataclass(frozen=True, kw_only=True)
class CorrelationMap(_Answer):
    """The correlation map of one layer, with the variance at its fixed point."""

    model: str
    neuron: str
    sigma_m2: float | None = None
    sigma_w2: float | None = None
    sigma_b2: float
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
        return super()._repr_html_() + self.plot().svg


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
    answer = _native.theory_map(model, neuron, sigma_m2, sigma_w2, sigma_b2, correlations, points)
    values = answer.values
    rows: list[dict[str, Any]] = values["map"]
    arrays = {name: _columns(rows, name) for name in ("c_in", "c_out", "one_minus_c_in", "one_minus_c_out")}
    return _make(CorrelationMap, values, _native=answer, **arrays)


# Critical lines


@dataclass(frozen=True, kw_only=True)
class CriticalLine(_Answer):
    """All critical initialisations, and which of them can be used."""

    model: str
    neuron: str
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
        return super()._repr_html_() + self.plot().svg


def critical_line(
    model: str = "deterministic", neuron: str = "sign", *, q: tuple[float, float] = (1e-10, 100.0), points: int = 25
) -> CriticalLine:
    """Where is the network critical, and can that be used?

    >>> import isinglass as ig
    >>> ig.theory.critical_line("deterministic", "probit:1").reachable
    False
    """
    answer = _native.theory_critical_line(model, neuron, q, points)
    values = answer.values
    rows: list[dict[str, Any]] = values["points"]
    key = next((name for name in ("sigma_m2", "sigma_w2") if rows and name in rows[0]), None)
    sigma2 = _columns(rows, key) if key else np.full(len(rows), np.nan)
    arrays = {"q": _columns(rows, "q"), "sigma2": sigma2, "sigma_b2": _columns(rows, "sigma_b2")}
    allowed = np.array([row["allowed"] for row in rows], dtype=np.bool_)
    return _make(CriticalLine, {name: values[name] for name in ("model", "neuron", "exists", "reachable", "verdict")}, allowed=allowed, _native=answer, **arrays)


# Advice


@dataclass(frozen=True, kw_only=True)
class Recommendation(_Answer):
    """An initialisation, and the factors by which signal and gradient change over the depth."""

    sigma_m2: float | None = None
    sigma_w2: float | None = None
    sigma_b2: float
    q_star: float | None
    c_star: float | None
    one_minus_c_star: float | None
    chi_1: float | None
    chi: float | None
    xi_1: float | None
    xi_q: float | None
    xi_c: float | None
    dq: float | None
    phase: str
    signal: float | None
    gradient: float | None


@dataclass(frozen=True, kw_only=True)
class CarriedRecommendation(_Answer):
    """An initialisation for carried fields, and what is left after all layers of two signals of variance 1 and correlation 0.5."""

    sigma_m2: float | None = None
    sigma_w2: float | None = None
    sigma_b2: float
    q_star: float | None
    growth: float | None
    c_star: float | None
    chi_1: float | None
    chi: float | None
    dq: float | None
    q_exponent: float | None
    c_exponent: float | None
    gradient_depth_exponent: float | None
    gradient_layer_exponent: float | None
    gradient_root_rate: float | None
    phase: str
    q: float | None
    c: float | None
    signal: float | None
    gradient: float | None


@dataclass(frozen=True, kw_only=True)
class Advice(_Answer):
    """Which σ_m² and σ_b² to use: the best, and the smallest that suffices (None if none does)."""

    model: str
    neuron: str
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


@dataclass(frozen=True, kw_only=True)
class CarriedAdvice(_Answer):
    """Whether to carry fields (needed, helpful or unneeded), and what is then left after all layers."""

    model: str
    neuron: str
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
    answer = _native.theory_advise(model, neuron, depth, reach, carry, sigma_m2, sigma_w2)
    values = answer.values
    if carry:
        values["carried"] = _make(CarriedRecommendation, values["carried"])
        return _make(CarriedAdvice, values, _native=answer)
    values["best"] = _make(Recommendation, values["best"])
    values["smallest"] = None if values["smallest"] is None else _make(Recommendation, values["smallest"])
    return _make(Advice, values, _native=answer)


# Phase diagrams


@dataclass(frozen=True, kw_only=True)
class PhaseDiagram(_Answer):
    """χ₁ and ξ_c over the plane of initialisations: `chi_1[row, column]` belongs to `y[row]` (σ_b²) and `x[column]` (σ_m² or σ_w²). Not allowed points are NaN."""

    model: str
    neuron: str
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
        return self.plot().svg + f"<p>{self.verdict}</p>"


@dataclass(frozen=True, kw_only=True)
class CarriedPhaseDiagram(_Answer):
    """What is left of gradient and signal after `depth` layers of carried fields, over the same plane."""

    model: str
    neuron: str
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
        return self.plot().svg + f"<p>{self.verdict}</p>"


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
            return (low, high), int(count)
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
    plane = _native.theory_phase_diagram(model, neuron, x_range, columns, y_range, rows, quantity, carry, depth, threads or 0)
    facts, arrays = plane.values, plane.columns
    common: dict[str, Any] = {**arrays, "model": model, "neuron": facts["neuron"], "x": plane.x, "y": plane.y, "verdict": facts["verdict"], "_native": plane}
    if carry:
        return CarriedPhaseDiagram(**common, depth=facts["depth"], quantity=quantity or "gradient")
    names = np.array([*facts["phases"], ""])
    line = np.array(facts["critical_line"], dtype=np.float64).reshape(-1, 2)
    return PhaseDiagram(**common, phase=names[plane.phases], critical_line=line, quantity=quantity or "chi_1")
