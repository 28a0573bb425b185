"""Packed networks: one bit per weight, XNOR and popcount.

>>> import numpy as np, isinglass as ig
>>> x = np.random.default_rng(0).integers(0, 256, (200, 16), dtype=np.uint8)
>>> network = ig.train(x, x[:, 0] > 127, hidden=(33,), epochs=20, progress=False)
>>> model = network.pack()
>>> model.shape, bool((model.predict(x) == network.predict(x)).all())
('16-33-2', True)
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native, _table
from ._arrays import bytes_of, floats_of, rows_of
from ._checks import whole
from ._labels import labels_of

__all__ = ["PackedModel", "load"]


class PackedModel:
    """A binary network as packed bits: what is deployed. Methods release the interpreter's lock, and may be called from several threads at once."""

    def __init__(self, native: _native.PackedModel) -> None:
        self._native = native
        self._inputs = native.sizes[0]
        self._dtype = np.dtype(np.float32 if native.takes_floats else np.uint8)
        names = native.class_names
        self._names = None if names is None else labels_of(names)

    @staticmethod
    def from_bytes(data: bytes) -> PackedModel:
        """The model in the bytes of a file."""
        return PackedModel(_native.PackedModel.from_bytes(data))

    def to_bytes(self) -> bytes:
        """The contents of the file that `save` writes."""
        return self._native.to_bytes()

    def predict(self, x: ArrayLike, *, threads: int = 1) -> NDArray[Any]:
        """The label of every row. Raw values: bytes, or the real numbers of a table."""
        classes = self._native.classes(self._values(x), threads if threads == 1 else whole("threads", threads))
        return classes if self._names is None else self._names[classes]

    def predict_proba(self, x: ArrayLike, *, threads: int = 1) -> NDArray[np.float64]:
        """The probabilities of the classes, averaged over the networks of an ensemble."""
        return self._native.probabilities(self._values(x), threads if threads == 1 else whole("threads", threads))

    def sums(self, x: ArrayLike, *, threads: int = 1) -> NDArray[np.int32]:
        """The integers before the last bias: for every row the sums of all networks and classes."""
        return self._native.sums(self._values(x), threads if threads == 1 else whole("threads", threads))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes ``model.safetensors``. Replaces no file but a packed network."""
        self._native.save(path)

    def export(self, path: str | os.PathLike[str], *, name: str | None = None) -> None:
        """Writes ``model.onnx`` for onnxruntime, or ``model.c``: one file of C99 whose functions begin with `name` (by default the file's name)."""
        target = Path(path)
        kind = target.suffix.lower().lstrip(".")
        if kind not in ("onnx", "c"):
            raise ValueError(f"{target}: an export ends in .onnx or .c")
        stem = re.sub(r"\W", "_", target.stem, flags=re.ASCII)
        identifier = name or (f"_{stem}" if stem[:1].isdigit() else stem)
        self._native.export(target, kind, identifier)

    @property
    def shape(self) -> str:
        """The sizes of the layers, ``784-512-512-10``."""
        return "-".join(str(size) for size in self._native.sizes)

    @property
    def classes(self) -> list[Any]:
        """The labels of the classes."""
        return list(range(self._native.sizes[-1])) if self._names is None else self._names.tolist()

    @property
    def provenance(self) -> dict[str, str]:
        """Where the model comes from."""
        return self._native.provenance

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its inputs: uint8, or float32 for the rows of a table."""
        return self._dtype

    def _values(self, x: ArrayLike) -> Any:
        # The case that has to be fast.
        if isinstance(x, np.ndarray) and x.dtype == self._dtype and x.ndim == 2 and x.shape[1] == self._inputs and x.flags.c_contiguous and x.flags.aligned:
            return x
        rows = rows_of(x, self._inputs)
        return floats_of(rows) if self._native.takes_floats else bytes_of(rows)

    def _facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"shape": self.shape, "networks": self._native.networks, "bytes": len(self.to_bytes()), "inputs": str(self._dtype)}
        return {**facts, **self.provenance}

    def __repr__(self) -> str:
        networks = self._native.networks
        return f"<PackedModel {self.shape}, {'1 network' if networks == 1 else f'{networks} networks'}, {len(self.to_bytes()):,} bytes>"

    def _repr_html_(self) -> str:
        return _table.facts_html(self._facts())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PackedModel) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return PackedModel.from_bytes, (self.to_bytes(),)


def load(path: str | os.PathLike[str]) -> PackedModel:
    """Reads a packed network."""
    return PackedModel(_native.PackedModel.load(path))
