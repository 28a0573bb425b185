"""What the answers share."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _table

Floats = NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True)
class Drawn:
    """The picture of an answer, drawn already."""

    svg: str
    png: bytes

    def to_svg(self) -> str:
        """As it was drawn."""
        return self.svg

    def to_png(self) -> bytes:
        """As it was drawn."""
        return self.png


class Answer:
    """A dictionary, a table, and a picture where there is one."""

    def to_dict(self) -> dict[str, Any]:
        """The values, under the names that ``--format json`` prints."""
        values = {item.name: getattr(self, item.name) for item in _shown(self)}
        return {name: value.to_dict() if isinstance(value, Answer) else value for name, value in values.items() if not _is_missing(name, value)}

    def _facts(self) -> dict[str, Any]:
        facts = {name: value for name, value in self.to_dict().items() if not isinstance(value, (np.ndarray, list))}
        flat: dict[str, Any] = {}
        for name, value in facts.items():
            flat.update({f"{name}.{key}": inner for key, inner in value.items()} if isinstance(value, dict) else {name: value})
        return flat

    def _repr_html_(self) -> str:
        return _table.facts_html(self._facts())

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Answer):
            return NotImplemented
        mine, yours = self.to_dict(), other.to_dict()
        return mine.keys() == yours.keys() and all(_equal(mine[name], yours[name]) for name in mine)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __getstate__(self) -> dict[str, Any]:
        """Compiled answers cannot be pickled: their pictures are drawn instead."""
        state = dict(self.__dict__)
        if "_native" in state:
            state["_native"] = Drawn(state["_native"].to_svg(), state["_native"].to_png())
        return state

    def __repr__(self) -> str:
        facts = _table.facts_text(self._facts())
        columns = {name: value for name, value in self.to_dict().items() if isinstance(value, np.ndarray) and value.ndim == 1}
        if len({len(values) for values in columns.values()}) != 1:
            return facts
        rows = [dict(zip(columns, row)) for row in zip(*(values.tolist() for values in columns.values()))]
        return f"{facts}\n\n{_table.rows_text(rows, columns)}"


def _equal(mine: Any, yours: Any) -> bool:
    if isinstance(mine, np.ndarray):
        return np.array_equal(mine, yours, equal_nan=mine.dtype.kind == "f")
    return bool(mine == yours)


def _shown(answer: Any) -> Iterator[dataclasses.Field[Any]]:
    return (item for item in dataclasses.fields(answer) if item.repr)


def _is_missing(name: str, value: Any) -> bool:
    """A model has one variance of weights, or none."""
    return value is None and name in ("sigma_m2", "sigma_w2")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Network(Answer):
    """Which network."""

    model: str
    neuron: str


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Variances(Answer):
    """Which initialisation: a model has σ_m², σ_w², or neither."""

    sigma_m2: float | None = None
    sigma_w2: float | None = None
    sigma_b2: float


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Slopes(Answer):
    """Fixed points, slopes, depth scales and the phase. What diverges or does not exist is None."""

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


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Exponents(Answer):
    """The same where fields are carried: exponents in place of depth scales."""

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


def make(kind: type[T], values: Mapping[str, Any], **others: Any) -> T:
    """An object from the values that belong to it."""
    names = {item.name for item in dataclasses.fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in values.items() if name in names}, **others)


def column(rows: Sequence[Mapping[str, Any]], name: str) -> Floats:
    """One value of every row; NaN where there is none."""
    return np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=np.float64)
