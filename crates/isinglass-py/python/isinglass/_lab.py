"""Runs, sweeps and every other command: what the command line writes, read back, and the other way round."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import _native, _table
from ._checks import threads_or_all
from ._extras import require
from ._figure import Figure
from ._network import Network
from ._packed import PackedModel, load
from ._progress import Progress, _duration
from ._training import History

__all__ = ["CommandError", "Run", "Sweep", "command", "open_sweep", "read_run", "sweep"]


class Run:
    """The directory of a training run."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        values = _native.read_run(self.directory)
        self.config: dict[str, Any] = values["config"]
        self.summary: dict[str, Any] | None = values["summary"]
        self.metrics: list[dict[str, Any]] = values["metrics"]

    @property
    def is_finished(self) -> bool:
        """Whether the run has ended."""
        return self.summary is not None

    @property
    def history(self) -> History:
        """What happened in every epoch."""
        facts = {} if self.summary is None else {"network": self.summary["network"], "data": self.summary["data"]}
        return History([line for line in self.metrics if line["kind"] == "epoch"], facts)

    @property
    def network(self) -> Network:
        """The network after the last epoch."""
        return Network.load(self.directory / "last.safetensors")

    @property
    def best(self) -> Network:
        """The network after the epoch with the best validation accuracy."""
        return Network.load(self.directory / "best.safetensors")

    @property
    def model(self) -> PackedModel:
        """The packed network of a run that followed a recipe."""
        return load(self.directory / "model.safetensors")

    def plot(self, kind: str = "curves") -> Figure:
        """The learning curves, or with ``"insides"`` what the network looks like inside."""
        if kind not in ("curves", "insides"):
            raise ValueError(f"unknown picture {kind!r}: use curves or insides")
        directory = self.directory
        return Figure(lambda png: _native.run_picture(directory, kind, png))

    def __repr__(self) -> str:
        epochs = len(self.history)
        return f"<Run {self.directory}, {'finished' if self.is_finished else 'not finished'}, {epochs} epoch{'' if epochs == 1 else 's'}>"

    def _repr_html_(self) -> str:
        test = {} if self.summary is None else self.summary["test"]
        scores = {f"test.{name}.accuracy": score["accuracy"] for name, score in test.items() if isinstance(score, dict)}
        return _table.facts_html({"directory": str(self.directory), **scores}) + self.plot()._repr_svg_()


def read_run(directory: str | os.PathLike[str]) -> Run:
    """Reads the directory of a training run."""
    return Run(directory)


class Sweep:
    """The directory of a sweep: a grid of training runs and their results."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        values = _native.sweep_rows(self.directory)
        self.axes: list[str] = values["axes"]
        self.rows: list[dict[str, Any]] = values["rows"]

    def to_pandas(self) -> Any:
        """One row per cell: its axes, status and result, as a pandas DataFrame."""
        return require("pandas").DataFrame(self.rows)

    def plot(self, *, x: str | None = None, y: str | None = None, value: str = "test_surrogate_accuracy") -> Figure:
        """A heat map over two axes, or lines over the only one with several values; averaged over the others."""
        directory = self.directory
        x, y = self._axis(x), self._axis(y)
        return Figure(lambda png: _native.sweep_picture(directory, x, y, value, png))

    def _axis(self, name: str | None) -> str | None:
        """Axes are spelt as flags; sigma_m2 is sigma-m2."""
        return name if name is None or name in self.axes else name.replace("_", "-")

    def __len__(self) -> int:
        return len(self.rows)

    def _abridged(self) -> list[str]:
        return [*self.axes, "status", "test_surrogate_accuracy", "test_binary_accuracy"]

    def __repr__(self) -> str:
        return _table.rows_text(self.rows, self._abridged())

    def _repr_html_(self) -> str:
        return _table.rows_html(self.rows, self._abridged())


def open_sweep(directory: str | os.PathLike[str]) -> Sweep:
    """Reads the directory of a sweep, finished or not."""
    return Sweep(directory)


def sweep(
    grid: str | os.PathLike[str] | Mapping[str, Mapping[str, Any]],
    out: str | os.PathLike[str],
    *,
    threads: int | None = None,
    keep_runs: bool = False,
    retry_failed: bool = False,
    data_dir: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Sweep:
    """Trains a network for every cell of a grid, as ``isinglass sweep run`` does; run again, it continues.

    `grid` is a TOML file, or the same as a dictionary: ``{"train": {"epochs": 5}, "grid": {"depth": [2, 5, 10], "seed": [1, 2]}}``.
    """
    with Progress(progress) as bar:

        def watch(standing: dict[str, Any]) -> None:
            left = standing["seconds_left"]
            remaining = "" if left is None else f", about {_duration(left)} to go"
            bar.show(standing["part"], f"{standing['done'] + standing['failed']} of {standing['cells']} cells{remaining}")

        tables = dict(grid) if isinstance(grid, Mapping) else grid
        _native.sweep_run(tables, out, threads_or_all(threads), keep_runs, retry_failed, data_dir, watch)
    result = Sweep(out)
    failed = sum(row["status"] == "failed" for row in result.rows)
    if failed:
        warnings.warn(f"{failed} of {len(result)} cells failed: the column 'error' says why, retry_failed=True runs them again", stacklevel=2)
    return result


class CommandError(RuntimeError):
    """A command that went wrong on the way; `code` is its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message, code)
        self.code = code

    def __str__(self) -> str:
        return str(self.args[0])


def command(name: str, /, *arguments: str | os.PathLike[str], **flags: Any) -> Any:
    """Runs any command and returns what ``--format json`` prints: ``ig.command("simulate", sigma_m2=[0.2, 0.9], width=500, realisations=20)``.

    Names with a space are subcommands (``"sweep status"``). True stands for a flag without a value; lists are joined by commas.

    >>> import isinglass as ig
    >>> ig.command("theory point", sigma_m2=0.9)["phase"]
    'ordered'
    """
    if not name.split():
        raise ValueError("no command: give its name, such as \"theory point\"")
    words = [sys.executable, "-m", "isinglass", *name.split(), *(os.fspath(argument) for argument in arguments)]
    for flag, value in flags.items():
        if value is None or value is False:
            continue
        words.append("--" + flag.replace("_", "-"))
        if value is not True:
            words.append(",".join(str(item) for item in value) if isinstance(value, (list, tuple, np.ndarray)) else str(value))
    takes_format = name.split()[0] not in ("report", "reproduce", "man", "completions") and "format" not in flags
    result = subprocess.run([*words, *(["--format", "json"] if takes_format else [])], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sentence = result.stderr.strip().rpartition("\n")[2].removeprefix("error: ")
        raise ValueError(sentence) if result.returncode == 2 else CommandError(sentence, result.returncode)
    try:
        return json.loads(result.stdout)
    except json.JSONDecodeError:
        return result.stdout
