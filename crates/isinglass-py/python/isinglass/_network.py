"""Networks: a differentiable surrogate and the binary network behind it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native, _table
from ._arrays import bytes_of, bytes_or_floats, floats_of, rows_of
from ._checks import threads_or_all, whole
from ._labels import labels_of
from ._packed import PackedModel

__all__ = ["Network"]

Counterpart = Literal["binary", "surrogate", "sampled"]


class Network:
    """A trained network. It stands for three: the ``surrogate`` that was trained, the ``binary`` network sign(M), and ``sampled`` ones drawn with means M.

    >>> import numpy as np, isinglass as ig
    >>> x = np.random.default_rng(0).integers(0, 256, (200, 16), dtype=np.uint8)
    >>> network = ig.train(x, x[:, 0] > 127, hidden=(33,), epochs=20, progress=False)
    >>> network
    <Network 16-33×1-2, deterministic, sign>
    >>> [means.shape for means, bias in network.layers]
    [(33, 16), (2, 33)]
    """

    def __init__(self, native: _native.Network) -> None:
        self._native = native
        self._packed: PackedModel | None = None

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Network:
        """Reads a checkpoint: ``last.safetensors`` or ``best.safetensors`` of a run, or what `save` wrote."""
        return Network(_native.Network.load(path))

    @staticmethod
    def from_bytes(data: bytes) -> Network:
        """The network in the bytes of a checkpoint."""
        return Network(_native.Network.from_bytes(data))

    @staticmethod
    def draw(*, inputs: int, hidden: Sequence[int], classes: int, seed: int = 1, **settings: Any) -> Network:
        """An initial network. Other settings: surrogate, neuron, init, sigma_m2, sigma_b2, tau, carry (true, false or "auto").

        >>> Network.draw(inputs=784, hidden=(512, 256), classes=10, init="auto").initialisation["distribution"]
        'uniform'
        """
        config = {"inputs": inputs, "hidden": list(hidden), "classes": classes, **settings}
        return Network(_native.Network.draw(config, whole("seed", seed)))

    def to_bytes(self) -> bytes:
        """The contents of the checkpoint that `save` writes."""
        return self._native.to_bytes()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint, which ``isinglass evaluate``, ``inspect`` and ``pack`` take. Replaces no file but a checkpoint."""
        if os.path.isfile(path) and not _is_checkpoint(path):
            raise ValueError(f"{os.fspath(path)} exists and is not a checkpoint; it was not replaced")
        self._native.save(path)

    @property
    def config(self) -> dict[str, Any]:
        """Shape, surrogate, neuron and initialisation."""
        return self._native.config

    @property
    def train_config(self) -> dict[str, Any]:
        """How it was trained."""
        return self._native.train_config

    @property
    def initialisation(self) -> dict[str, Any] | None:
        """What the initialisation came to, and why; None if the layers were given."""
        return self._native.initialisation

    @property
    def layers(self) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Copies of the means (outputs × inputs) and biases of every layer, the output layer last."""
        return self._native.layers

    @property
    def input(self) -> dict[str, Any]:
        """How raw values become inputs: offset and scale of bytes, and centres and factors where real numbers are rounded to bytes first."""
        return self._native.input

    @property
    def progress(self) -> dict[str, int]:
        """Where its training stands: step, steps, epoch, epochs."""
        return self._native.progress

    @property
    def class_names(self) -> list[str] | None:
        """The names of the classes, if they have any."""
        return self._native.class_names

    @property
    def shape(self) -> str:
        """The sizes of the layers, ``784-512×2-10``."""
        return self._native.shape

    @property
    def is_packable(self) -> bool:
        """Whether weights and neurons behind it are ±1."""
        return self._native.is_packable()

    def predict_proba(
        self, x: ArrayLike, *, network: Counterpart | None = None, draws: int = 10, seed: int | None = None, threads: int | None = None
    ) -> NDArray[np.float64]:
        """Class probabilities: of the binary network (of the surrogate, if there are no binary weights), of the surrogate, or averaged over `draws` sampled networks."""
        which = network or ("binary" if self.config["surrogate"] != "continuous" else "surrogate")
        if which == "binary" and self.is_packable and self._takes_bits():
            return self._bits().predict_proba(x, threads=threads_or_all(threads))
        checked = None if seed is None else whole("seed", seed)
        return self._native.probabilities(self._values(x), which, whole("draws", draws), checked, threads_or_all(threads))

    def predict(
        self, x: ArrayLike, *, network: Counterpart | None = None, draws: int = 10, seed: int | None = None, threads: int | None = None
    ) -> NDArray[Any]:
        """The label of every row."""
        classes: NDArray[Any] = self.predict_proba(x, network=network, draws=draws, seed=seed, threads=threads).argmax(axis=1)
        if self.class_names is None:
            return classes
        named: NDArray[Any] = labels_of(self.class_names)[classes]
        return named

    def score(self, x: ArrayLike, y: ArrayLike, *, network: Counterpart | None = None, draws: int = 10, seed: int | None = None) -> float:
        """The fraction of rows whose label is predicted correctly."""
        predicted, labels = self.predict(x, network=network, draws=draws, seed=seed), np.asarray(y)
        if labels.dtype.kind in "US":  # words that look like numbers
            predicted, labels = predicted.astype(str), labels.astype(str)
        return float((predicted == labels).mean())

    def inputs(self, x: ArrayLike) -> NDArray[np.float32]:
        """Raw values as the first layer sees them: standardised, and rounded where they are rounded to bytes."""
        return self._native.inputs(self._values(x))

    def inspect(self, x: ArrayLike, y: ArrayLike, *, threads: int | None = None) -> dict[str, Any]:
        """What ``isinglass inspect`` shows, layer by layer, with up to a thousand of these examples. `y` are numbers of classes."""
        return self._native.inspect(self._values(x), np.ascontiguousarray(y, dtype=np.uint8), threads_or_all(threads))

    def pack(self, x: ArrayLike | None = None, *, draws: int | None = None, seed: int | None = None, threads: int | None = None) -> PackedModel:
        """The binary network as packed bits, or with `draws` an ensemble of sampled ones. Checked sum by sum against the float network, on `x` and on random examples."""
        values = None if x is None else self._values(x)
        draws, seed = (None if number is None else whole(name, number) for name, number in (("draws", draws), ("seed", seed)))
        return PackedModel(self._native.pack(values, draws, seed, threads_or_all(threads)))

    def _bits(self) -> PackedModel:
        if self._packed is None:
            self._packed = self.pack()
        return self._packed

    def _takes_bits(self) -> bool:
        rule = self.input
        return rule["bytes"] is True

    def _values(self, x: ArrayLike) -> Any:
        rows = rows_of(x, self.config["inputs"])
        rule = self.input
        if rule["centres"] is not None:
            return floats_of(rows)
        return bytes_of(rows) if rule["bytes"] else bytes_or_floats(rows)

    def _facts(self) -> Mapping[str, Any]:
        config, progress = self.config, self.progress
        return {
            "shape": self.shape,
            "surrogate": config["surrogate"],
            "neuron": config["neuron"],
            "carry": config["carry"],
            "epochs": f"{progress['epoch']}/{progress['epochs']}",
            **{f"init.{key}": value for key, value in (self.initialisation or {}).items()},
        }

    def __repr__(self) -> str:
        config = self.config
        return f"<Network {self.shape}, {config['surrogate']}, {config['neuron']}>"

    def _repr_html_(self) -> str:
        return _table.facts_html(self._facts())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Network) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return Network.from_bytes, (self.to_bytes(),)


def _is_checkpoint(path: str | os.PathLike[str]) -> bool:
    """Whether a file's head is that of our checkpoints."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        head = file.read(min(length, 1 << 20))
    return b'"isinglass"' in head and b"layers.0.means" in head
