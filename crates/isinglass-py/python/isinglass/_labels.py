"""Labels: any that NumPy can sort, as numbers of classes and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

MAX_CLASSES = 256


@dataclass(frozen=True)
class Labels:
    """Labels as numbers of classes."""

    classes: NDArray[Any]
    numbers: NDArray[np.uint8]

    @staticmethod
    def of(y: ArrayLike) -> Labels:
        """Any labels: numbers, words, truth values."""
        try:
            classes, numbers = np.unique(np.asarray(y).ravel(), return_inverse=True)
        except TypeError as error:
            raise ValueError(f"labels of different kinds cannot be sorted: {error}") from error
        if len(classes) > MAX_CLASSES:
            raise ValueError(f"{len(classes)} classes: at most {MAX_CLASSES} can be told apart")
        if len(classes) < 2:
            found = "one class" if len(classes) else "no class"
            raise ValueError(f"{found} in the labels: a classifier needs at least two classes")
        return Labels(classes, numbers.astype(np.uint8))

    @property
    def names(self) -> list[str] | None:
        """The names that go into files; None where the classes are the numbers from 0 on."""
        if self.classes.dtype.kind in "iu" and np.array_equal(self.classes, np.arange(len(self.classes))):
            return None
        return [str(name) for name in self.classes]


def labels_of(names: Sequence[str]) -> NDArray[Any]:
    """The labels that names in a file stand for: numbers and truth values where all of them are.

    >>> labels_of(["-1", "7"]).tolist(), labels_of(["False", "True"]).tolist(), labels_of(["cat", "7"]).tolist()
    ([-1, 7], [False, True], ['cat', '7'])
    """
    if set(names) == {"False", "True"}:
        return np.array([name == "True" for name in names])
    for kind in (int, float):
        try:
            return np.array([kind(name) for name in names])
        except (ValueError, OverflowError):
            continue
    return np.array(names)
