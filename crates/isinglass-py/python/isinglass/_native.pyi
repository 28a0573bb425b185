"""The compiled part of the package. Its names are private: the modules beside it are the interface."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

Path: TypeAlias = str | PathLike[str]
Values: TypeAlias = NDArray[np.uint8] | NDArray[np.float32]

__version__: str

def main(arguments: Sequence[str]) -> int:
    """Runs the command line and returns its exit code."""

def instruction_sets() -> list[str]: ...

# Theory

@final
class Answer:
    """What a `theory` command answers: the values that `--format json` prints, and the picture that `--plot` draws."""

    @property
    def values(self) -> dict[str, Any]: ...
    def to_svg(self) -> str: ...
    def to_png(self) -> bytes: ...

def theory_point(
    model: str, neuron: str, sigma_m2: float | None, sigma_w2: float | None, sigma_b2: float, carry: bool
) -> Answer: ...
def theory_trajectory(
    model: str,
    neuron: str,
    sigma_m2: float | None,
    sigma_w2: float | None,
    sigma_b2: float,
    carry: bool,
    depth: int,
    q_a: float | None,
    q_b: float | None,
    c: float,
    one_minus_c: float | None,
    input_variance: Sequence[float] | None,
) -> Answer: ...
def theory_map(
    model: str, neuron: str, sigma_m2: float | None, sigma_w2: float | None, sigma_b2: float, c: Sequence[float] | None, points: int
) -> Answer: ...
def theory_critical_line(model: str, neuron: str, q: tuple[float, float], points: int) -> Answer: ...
def theory_advise(
    model: str, neuron: str, depth: int, reach: float, carry: bool, sigma_m2: float | None, sigma_w2: float | None
) -> Answer: ...
@final
class Plane:
    """The theory over a plane of initialisations, row by row from the smallest σ_b²."""

    @property
    def values(self) -> dict[str, Any]: ...
    @property
    def x(self) -> NDArray[np.float64]: ...
    @property
    def y(self) -> NDArray[np.float64]: ...
    @property
    def columns(self) -> dict[str, NDArray[np.float64]]: ...
    @property
    def phases(self) -> NDArray[np.int8]:
        """Places in `values["phases"]`; −1 where the point is not allowed."""
    def to_svg(self) -> str: ...
    def to_png(self) -> bytes: ...

def theory_phase_diagram(
    model: str,
    neuron: str,
    x: tuple[float, float] | None,
    columns: int,
    y: tuple[float, float],
    rows: int,
    quantity: str | None,
    carry: bool,
    depth: int | None,
    threads: int,
) -> Plane: ...

# Networks

@final
class Network:
    """A surrogate network and the binary one behind it; after training also all it takes to continue."""

    @staticmethod
    def draw(config: Mapping[str, Any], seed: int) -> Network:
        """Draws initial means. Keys of `config`: inputs, classes, hidden, surrogate, neuron, init, sigma_m2, sigma_b2, tau, carry (true, false or "auto")."""
    @staticmethod
    def from_layers(
        config: Mapping[str, Any],
        layers: Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]],
        input: Mapping[str, Any] | None,
        class_names: Sequence[str] | None,
    ) -> Network:
        """A network of given means (outputs × inputs) and biases, the output layer last. `input` has the keys of `Network.input`."""
    @staticmethod
    def load(path: Path) -> Network:
        """Reads a checkpoint."""
    @staticmethod
    def from_bytes(data: bytes) -> Network: ...
    def to_bytes(self) -> bytes:
        """The checkpoint as `save` writes it."""
    def save(self, path: Path) -> None: ...
    @property
    def config(self) -> dict[str, Any]:
        """inputs, classes, hidden, surrogate, neuron, init, sigma_m2, sigma_b2, tau, carry."""
    @property
    def train_config(self) -> dict[str, Any]:
        """goal, means, anneal_from, beta, variance_gradient, optimizer, lr, schedule, batch, epochs, …"""
    @property
    def initialisation(self) -> dict[str, Any] | None:
        """distribution, sigma_m2, sigma_b2, reason; None if the layers were given."""
    @property
    def progress(self) -> dict[str, int]:
        """step, steps, steps_per_epoch, epoch, epochs."""
    @property
    def layers(self) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Means (outputs × inputs) and biases of every layer, the output layer last."""
    @property
    def carried(self) -> list[int]:
        """For every layer the number of layers below whose fields are carried to it."""
    @property
    def input(self) -> dict[str, Any]:
        """How raw values become inputs, x = (byte − offset)·scale: offset, scale, bytes (true, false or None), centres and factors (arrays, if real numbers are quantised; else None)."""
    @property
    def class_names(self) -> list[str] | None: ...
    @property
    def shape(self) -> str: ...
    def is_packable(self) -> bool: ...
    def inputs(self, x: Values) -> NDArray[np.float32]:
        """Raw values as the first layer sees them."""
    def probabilities(
        self, x: Values, network: str, draws: int, seed: int | None, threads: int
    ) -> NDArray[np.float64]:
        """Class probabilities; `network` is surrogate, binary or sampled."""
    def gradients(
        self, x: Values, y: NDArray[np.uint8], variance_gradient: bool, threads: int
    ) -> tuple[float, list[tuple[NDArray[np.float32], NDArray[np.float32]]]]:
        """Loss and its gradients by means and biases, of all examples as one batch. Sampled surrogates use the noise of seed 0, step 0."""
    def inspect(self, x: Values, y: NDArray[np.uint8], threads: int) -> dict[str, Any]:
        """What `isinglass inspect` shows, with up to a thousand of these (training) examples."""
    def pack(self, x: Values | None, draws: int | None, seed: int | None, threads: int) -> PackedModel: ...

def lrt_noise(seed: int, step: int, layer: int, units: int, examples: int) -> NDArray[np.float32]:
    """The engine's noise ε, units × examples."""

def train(
    settings: Mapping[str, Any],
    x: Values,
    y: NDArray[np.uint8],
    classes: int,
    class_names: Sequence[str] | None,
    image: tuple[int, int] | None,
    start: Network | None,
    threads: int,
    watch: Callable[[dict[str, Any]], None] | None,
) -> tuple[Network, list[dict[str, Any]], dict[str, Any], BaseException | None]:
    """Trains as `isinglass train` does with the same settings (keys as its flags, with underscores).

    Returns the network, the history (the epochs of metrics.jsonl), facts (settings, notices) and, if training was stopped, the exception that stopped it.
    """

def curves(facts: Mapping[str, Any], history: Sequence[Mapping[str, Any]], png: bool) -> str | bytes: ...
def insides(inspection: Mapping[str, Any], png: bool) -> str | bytes: ...

# Packed networks

@final
class PackedModel:
    """A binary network as packed bits."""

    @staticmethod
    def load(path: Path) -> PackedModel: ...
    @staticmethod
    def from_bytes(data: bytes) -> PackedModel: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: Path) -> None: ...
    def export(self, path: Path, kind: str, name: str) -> None:
        """Writes ONNX or C99."""
    def classes(self, x: Values, threads: int) -> NDArray[np.int64]: ...
    def probabilities(self, x: Values, threads: int) -> NDArray[np.float64]: ...
    def sums(self, x: Values, threads: int) -> NDArray[np.int32]: ...
    def time_classes(self, x: Values, count: int) -> float:
        """The seconds that `count` predictions take in Rust: the benchmark's yardstick."""
    @property
    def sizes(self) -> list[int]: ...
    @property
    def networks(self) -> int: ...
    @property
    def class_names(self) -> list[str] | None: ...
    @property
    def image(self) -> tuple[int, int] | None: ...
    @property
    def takes_floats(self) -> bool: ...
    @property
    def tau(self) -> float: ...
    @property
    def provenance(self) -> dict[str, str]: ...
    @property
    def carrying_layers(self) -> list[int]: ...

# Data, runs and sweeps

def load_data(name: str, directory: Path | None) -> dict[str, Any]:
    """name, classes, class_names, image (height, width), train and test: pairs of values (rows) and labels."""

def read_run(directory: Path) -> dict[str, Any]:
    """directory, config, summary (None before the run's end) and metrics."""

def run_picture(directory: Path, kind: str, png: bool) -> str | bytes:
    """`kind` is curves or insides."""

def sweep_run(
    grid: Path | Mapping[str, Any],
    out: Path,
    threads: int,
    keep_runs: bool,
    retry_failed: bool,
    data_dir: Path | None,
    watch: Callable[[dict[str, Any]], None] | None,
) -> None: ...
def sweep_rows(directory: Path) -> dict[str, Any]:
    """axes and rows."""

def sweep_picture(directory: Path, x: str | None, y: str | None, value: str, png: bool) -> str | bytes: ...
