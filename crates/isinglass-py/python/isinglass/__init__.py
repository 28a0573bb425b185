"""isinglass: deep neural networks whose weights and neurons are ±1 (Ising spins).

| | |
|---|---|
| ``ig.theory`` | how signals travel through such a network, before any training |
| ``ig.BinaryMLPClassifier`` | an estimator for scikit-learn; ``ig.train`` needs NumPy alone |
| ``ig.load``, ``ig.PackedModel`` | the binary network as packed bits |
| ``ig.torch`` | the same surrogates as PyTorch modules, on any device |
| ``ig.sweep``, ``ig.read_run``, ``ig.command`` | what the command line does, and what it wrote |
| ``ig.datasets`` | generated digits, MNIST, Fashion-MNIST |

>>> import isinglass as ig
>>> digits = ig.datasets.load("digits")
>>> network = ig.train(*digits.train, hidden=(64,), epochs=1, train_fraction=0.1, progress=False)
>>> network.pack()
<PackedModel 784-64-10, 1 network, 7,344 bytes>
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import datasets, theory
from ._figure import Figure
from ._lab import CommandError, Run, Sweep, command, open_sweep, read_run, sweep
from ._native import __version__, instruction_sets
from ._network import Network
from ._packed import PackedModel, load
from ._training import Diagnosis, History, train

if TYPE_CHECKING:
    from . import torch as torch
    from ._estimator import BinaryMLPClassifier as BinaryMLPClassifier

# What needs an optional dependency is left out: `import *` works without any.
__all__ = [
    "CommandError",
    "Diagnosis",
    "Figure",
    "History",
    "Network",
    "PackedModel",
    "Run",
    "Sweep",
    "__version__",
    "command",
    "datasets",
    "instruction_sets",
    "load",
    "open_sweep",
    "read_run",
    "sweep",
    "theory",
    "train",
]


def __getattr__(name: str) -> Any:
    """Imports what needs an optional dependency when it is first used."""
    if name == "torch":
        return import_module(".torch", __name__)
    if name == "BinaryMLPClassifier":
        return import_module("._estimator", __name__).BinaryMLPClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "BinaryMLPClassifier", "torch"])
