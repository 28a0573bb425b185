"""Runs, sweeps, data sets and commands."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import isinglass as ig

from support import run_command

GRID: dict[str, dict[str, Any]] = {"train": {"epochs": 1, "width": 16, "train_fraction": 0.02, "samples": 1}, "grid": {"depth": [1, 2], "seed": [1, 2]}}


def test_digits_need_no_download() -> None:
    digits = ig.datasets.load("digits")
    assert digits.train[0].shape == (20_000, 784) and digits.test[1].shape == (5_000,)
    with pytest.raises(ValueError, match="unknown data set"):
        ig.datasets.load("imagenet")
    with pytest.raises(FileNotFoundError, match="mnist"):
        ig.datasets.load("mnist", "no/such/directory")


def test_a_sweep_is_the_one_of_the_command_line(tmp_path: Path) -> None:
    sweep = ig.sweep(GRID, tmp_path / "a", progress=False)
    (tmp_path / "grid.toml").write_text(
        "[train]\nepochs = 1\nwidth = 16\ntrain-fraction = 0.02\nsamples = 1\n[grid]\ndepth = [1, 2]\nseed = [1, 2]\n", encoding="utf-8"
    )
    assert run_command("sweep", "run", str(tmp_path / "grid.toml"), "--out", str(tmp_path / "b")).returncode == 0
    other = ig.open_sweep(tmp_path / "b")
    assert len(sweep) == 4 and sweep.axes == ["depth", "seed"]
    results = [{key: value for key, value in row.items() if not key.startswith("run_")} for row in sweep.rows]
    assert results == [{key: value for key, value in row.items() if not key.startswith("run_")} for row in other.rows]
    pandas = pytest.importorskip("pandas")
    frame = sweep.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and (frame["status"] == "done").all()
    assert sweep.plot(value="test_binary_accuracy").svg.startswith("<svg")
    assert "<table" in sweep._repr_html_() and "done" in repr(sweep)
    before = time.monotonic()
    assert ig.sweep(tmp_path / "grid.toml", tmp_path / "b", progress=False).rows == other.rows  # nothing is left to do
    assert time.monotonic() - before < 30


def test_faulty_grids_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="dept"):
        ig.sweep({"grid": {"dept": [1]}}, tmp_path / "a")
    with pytest.raises(FileNotFoundError):
        ig.sweep(tmp_path / "nothing.toml", tmp_path / "a")
    with pytest.raises(FileNotFoundError, match="no sweep found"):
        ig.open_sweep(tmp_path)
    assert not (tmp_path / "a").exists()


def test_failed_cells_are_reported(tmp_path: Path) -> None:
    grid = {"train": {**GRID["train"], "surrogate": "continuous", "optimizer": "sgd", "lr": 1e30}, "grid": {"depth": [1], "seed": [1]}}
    with pytest.warns(UserWarning, match="1 of 1 cells failed"):
        sweep = ig.sweep(grid, tmp_path / "a", progress=False)
    assert sweep.rows[0]["error"]


def test_a_run_is_read_back(tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["train", "--hidden", "16", "--epochs", "2", "--train-fraction", "0.05", "--out", str(out)]
    assert run_command(*words).returncode == 0
    run = ig.read_run(out)
    assert run.is_finished and run.config["epochs"] == 2 and len(run.history) == 2
    assert run.summary is not None
    digits = ig.datasets.load("digits")
    assert run.network.score(*digits.test) == pytest.approx(run.summary["test"]["binary"]["accuracy"], abs=1e-12)
    assert run.best.shape == "784-16×1-10"
    assert run.plot().svg.startswith("<svg") and run.plot("insides").svg.startswith("<svg")
    assert "finished" in repr(run) and "<svg" in run._repr_html_()
    with pytest.raises(FileNotFoundError, match="no run found"):
        ig.read_run(tmp_path)
    with pytest.raises(FileNotFoundError):
        _ = run.model


def test_any_command_can_be_called() -> None:
    answer = ig.command("simulate", sigma_m2=[0.2, 0.9], width=50, depth=3, realisations=4, rows="overall")
    assert isinstance(answer, dict)
    with pytest.raises(ValueError, match="cannot exceed 1"):
        ig.command("theory point", sigma_m2=1.2)
    with pytest.raises(ValueError, match="no command"):
        ig.command("")
    again = pickle.loads(pickle.dumps(ig.CommandError("sentence", 1)))
    assert (str(again), again.code) == ("sentence", 1)
    with pytest.raises(ValueError, match="unexpected argument"):
        ig.command("theory point", sigma=1.2)


def test_the_command_is_installed(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("isinglass")
    if not script.exists():
        pytest.skip("the package is not installed by pip")
    result = subprocess.run([script, "theory", "point", "--sigma-m2", "0.9", "--format", "json"], capture_output=True, text=True, check=False)
    assert result.returncode == 0 and json.loads(result.stdout)["phase"] == "ordered"
    wrong = subprocess.run([script, "theory", "point", "--sigma-m2", "1.2"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and wrong.stderr.startswith("error: σ_m² = 1.2")
    (tmp_path / "grid.toml").write_text("[train]\nepochs = 1\n[grid]\nseed = [1]\n")
    job = subprocess.run(
        [script, "sweep", "submit", "grid.toml", "--out", "a", "--slurm", "--dry-run"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert str(script) in job.stdout, job.stderr  # not the interpreter


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_stops_a_sweep_that_then_continues(tmp_path: Path) -> None:
    grid = {"train": {"epochs": 400, "width": 32, "train_fraction": 0.02, "samples": 1}, "grid": {"seed": [1, 2]}}
    code = f"import isinglass as ig; ig.sweep({grid!r}, {str(tmp_path / 'a')!r}, progress=False)"
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "a/sweep.toml").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode != 0 and "KeyboardInterrupt" in said
    assert all(row["status"] == "done" for row in ig.sweep(grid, tmp_path / "a", progress=False).rows)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_the_command(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "isinglass", "train", "--epochs", "1000", "--out", str(tmp_path / "run")]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while not (tmp_path / "run/last.safetensors").exists():
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "isinglass resume" in said
    assert not ig.read_run(tmp_path / "run").is_finished
