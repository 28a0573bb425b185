"""Training on arrays, as ``isinglass train`` does with the same settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native, _table
from ._arrays import bytes_or_floats, rows_of
from ._checks import threads_or_all
from ._extras import require
from ._figure import Figure
from ._labels import Labels
from ._network import Network
from ._progress import Progress

__all__ = ["Diagnosis", "History", "train"]


class History(Sequence[dict[str, Any]]):
    """What happened in every epoch: the lines of ``metrics.jsonl``."""

    def __init__(self, epochs: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> None:
        self._epochs = [dict(epoch) for epoch in epochs]
        self._facts = dict(facts)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        return self._epochs[index]

    def __len__(self) -> int:
        return len(self._epochs)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._epochs)

    def __add__(self, other: History) -> History:
        return History([*self._epochs, *other._epochs], self._facts)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One flat row per epoch: epoch, lr, beta, train_accuracy, train_nll, validation_accuracy, …"""
        return [_flat(epoch) for epoch in self._epochs]

    def to_pandas(self) -> Any:
        """The same as a pandas DataFrame, indexed by epoch."""
        frame = require("pandas").DataFrame(self.rows)
        return frame.set_index("epoch") if len(frame) else frame

    def plot(self) -> Figure:
        """Loss, accuracy, learning rate and β over the epochs."""
        facts, epochs = self._facts, self._epochs
        return Figure(lambda png: _native.curves(facts, epochs, png))

    def __repr__(self) -> str:
        columns = ["epoch", "train_nll", "train_accuracy", "validation_accuracy", "validation_binary_accuracy"]
        return _table.rows_text(self.rows, columns) if self._epochs else "<History: no epoch was finished>"

    def _repr_html_(self) -> str:
        return self.plot()._repr_svg_()


def _flat(epoch: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for key, value in epoch.items():
        if isinstance(value, Mapping):
            row.update({f"{key}_{inner}": number for inner, number in value.items()})
        elif key in ("validation", "validation_binary"):
            row.update({f"{key}_accuracy": None, f"{key}_nll": None})
        elif key not in ("kind", "gradient_norms"):
            row[key] = value
    return row


class Diagnosis(Mapping[str, Any]):
    """What a trained network looks like inside, layer by layer: what ``isinglass inspect`` shows."""

    _COLUMNS = ("layer", "inputs", "outputs", "sigma_m2", "initial_sigma_m2", "polarised", "flip_ratio", "field_variance", "predicted_variance", "saturated", "chi_1")

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def layers(self) -> list[dict[str, Any]]:
        """One dictionary per layer, the output layer last."""
        layers: list[dict[str, Any]] = self._values["layers"]
        return layers

    def to_pandas(self) -> Any:
        """One row per layer, as a pandas DataFrame."""
        rows = [{key: value for key, value in layer.items() if not isinstance(value, (dict, list))} for layer in self.layers]
        return require("pandas").DataFrame(rows).set_index("layer")

    def plot(self) -> Figure:
        """Histograms of means and neurons, and the variance of the fields beside the theory's."""
        values = self._values
        return Figure(lambda png: _native.insides(values, png))

    def _columns(self) -> list[str]:
        return [name for name in self._COLUMNS if name in self.layers[0]]

    def __repr__(self) -> str:
        return _table.rows_text(self.layers, self._columns())

    def _repr_html_(self) -> str:
        return _table.rows_html(self.layers, self._columns()) + self.plot()._repr_svg_()


@dataclass(frozen=True)
class Trained:
    """What a training came to."""

    network: Network
    history: History
    facts: dict[str, Any]
    stopped: BaseException | None


def run(
    settings: Mapping[str, Any],
    rows: NDArray[Any],
    labels: NDArray[np.uint8],
    classes: int,
    names: Sequence[str] | None,
    *,
    image: tuple[int, int] | None = None,
    start: Network | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    callback: Callable[[dict[str, Any]], None] | None = None,
) -> Trained:
    """Trains to the end, or until an exception (Ctrl-C among them) stops it: the network is then that of the last step."""
    with Progress(progress) as bar:

        def watch(news: dict[str, Any]) -> None:
            if news["kind"] == "step":
                bar.show(news["step"] / news["steps"], f"epoch {news['epoch'] + 1} of {news['epochs']}, loss {news['loss']:.4f}")
            elif callback is not None:
                callback(news)

        native = None if start is None else start._native
        network, epochs, facts, stopped = _native.train(settings, rows, labels, classes, names, image, native, threads_or_all(threads), watch)
    return Trained(Network(network), History(epochs, facts), facts, stopped)


def train(
    x: ArrayLike,
    y: ArrayLike,
    *,
    threads: int | None = None,
    progress: bool | None = None,
    callback: Callable[[dict[str, Any]], None] | None = None,
    **settings: Any,
) -> Network:
    """Trains a network of ±1 weights, with the settings (and the defaults) of ``isinglass train``: hidden, epochs, lr, surrogate, neuron, carry, init, seed, …

    This needs NumPy alone; `BinaryMLPClassifier` does the same as an estimator of scikit-learn.
    Bytes are taken for images, floats for tables (``features="image"|"table"`` overrides). `callback` is given the line of every epoch.

    >>> import numpy as np, isinglass as ig
    >>> x = np.random.default_rng(0).integers(0, 256, (200, 16), dtype=np.uint8)
    >>> network = ig.train(x, x[:, 0] > 127, hidden=(33,), epochs=60, progress=False)
    >>> network.score(x, x[:, 0] > 127) > 0.9
    True
    """
    array = np.asarray(x)
    rows, labels = bytes_or_floats(rows_of(array)), Labels.of(y)
    if len(rows) != len(labels.numbers):
        raise ValueError(f"{len(rows)} examples and {len(labels.numbers)} labels: there must be one label for each example")
    image = (int(array.shape[1]), int(array.shape[2])) if array.ndim == 3 else None
    trained = run(
        settings, rows, labels.numbers, len(labels.classes), labels.names, image=image, threads=threads, progress=progress, callback=callback
    )
    if trained.stopped is not None:
        raise trained.stopped
    return trained.network
