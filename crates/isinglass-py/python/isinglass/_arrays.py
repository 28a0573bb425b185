"""Arrays as networks take them: rows of uint8 or float32 in one piece. Nothing is copied that has this form already."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Rows = NDArray[np.uint8] | NDArray[np.float32]


def rows_of(x: ArrayLike, inputs: int | None = None) -> NDArray[Any]:
    """The examples as rows: images are flattened, and a single example becomes one row.

    >>> rows_of(np.zeros((5, 28, 28), np.uint8)).shape, rows_of(np.zeros(784), 784).shape
    ((5, 784), (1, 784))
    """
    array = np.asarray(x)
    is_single = inputs is not None and array.size == inputs and (array.ndim == 1 or (array.ndim == 2 and array.shape[1] != inputs))
    if is_single:
        return array.reshape(1, -1)
    if array.ndim < 2:
        raise ValueError(f"an array of shape {array.shape}: examples are rows of a two-dimensional array; reshape(1, -1) makes one row of it")
    return array.reshape(len(array), -1) if array.ndim > 2 else array


def bytes_or_floats(rows: NDArray[Any]) -> Rows:
    """uint8 stays; everything else becomes float32."""
    if rows.dtype == np.uint8:
        return np.ascontiguousarray(rows)
    floats = floats_of(rows)
    if rows.dtype == np.float64 and not np.isfinite(floats).all() and np.isfinite(rows).all():
        raise ValueError("a value is too large for 32-bit floats: rescale the column")
    return floats


def bytes_of(rows: NDArray[Any]) -> NDArray[np.uint8]:
    """Values for a network that takes bytes: whole numbers from 0 to 255, whatever their type."""
    if rows.dtype == np.uint8:
        return np.ascontiguousarray(rows)
    _check_numbers(rows)
    with np.errstate(invalid="ignore"):  # NaN is refused below
        converted = np.clip(rows, 0, 255).astype(np.uint8)
    if not np.array_equal(converted, rows):
        raise ValueError("this network was trained on bytes: it takes whole numbers from 0 to 255, as pixels have them")
    return np.ascontiguousarray(converted)


def floats_of(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Values for a network that takes real numbers."""
    _check_numbers(rows)
    return np.require(rows, dtype=np.float32, requirements=["C", "A"])


def _check_numbers(rows: NDArray[Any]) -> None:
    if rows.dtype.kind not in "biuf":
        raise ValueError(f"an array of {rows.dtype}: examples are rows of numbers")
