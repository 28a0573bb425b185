"""Data sets: generated digits with nothing to download, and MNIST and Fashion-MNIST where ``isinglass data fetch`` has put them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native

__all__ = ["Dataset", "load"]


@dataclass(frozen=True)
class Dataset:
    """Rows of values with labels, to train and to test with."""

    name: str
    classes: int
    image: tuple[int, int]
    train: tuple[NDArray[Any], NDArray[np.uint8]]
    test: tuple[NDArray[Any], NDArray[np.uint8]]

    def __repr__(self) -> str:
        return f"<Dataset {self.name}: {len(self.train[0]):,} + {len(self.test[0]):,} images of {self.image[0]} × {self.image[1]}, {self.classes} classes>"


def load(name: str = "digits", directory: str | os.PathLike[str] | None = None) -> Dataset:
    """Loads ``digits``, ``mnist`` or ``fashion-mnist``.

    >>> import isinglass as ig
    >>> ig.datasets.load("digits")
    <Dataset digits: 20,000 + 5,000 images of 28 × 28, 10 classes>
    """
    values = _native.load_data(name, directory)
    return Dataset(values["name"], values["classes"], tuple(values["image"]), values["train"], values["test"])
