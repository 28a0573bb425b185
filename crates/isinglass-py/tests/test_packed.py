"""Packed networks from Python: the same integers, on any thread, and files that others read."""

from __future__ import annotations

import ctypes
import pickle
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isinglass as ig

from support import Example, run_command


@pytest.fixture(scope="module")
def network(bars: Example) -> ig.Network:
    return ig.train(*bars, hidden=(33, 17), epochs=6, seed=3, progress=False)


def test_packed_is_the_binary_network(bars: Example, network: ig.Network) -> None:
    x, y = bars
    model = network.pack(x)
    floats = network._native.probabilities(x, "binary", 1, None, 1)
    assert (model.predict_proba(x) == floats).all()
    assert (model.predict(x) == floats.argmax(axis=1)).all()
    assert model.sums(x).shape == (400, 2) and model.sums(x).dtype == np.int32
    for threads in (1, 2, 3):
        assert (model.predict(np.tile(x, (40, 1)), threads=threads)[:400] == model.predict(x)).all()


def test_one_image_in_any_form(bars: Example, network: ig.Network) -> None:
    x, _ = bars
    model, image = network.pack(), x[7]
    expected = model.predict(x)[7:8]
    for form in (image, image.reshape(1, 64), image.reshape(8, 8), image.reshape(1, 8, 8), image.tolist(), image.astype(np.float64), image[None, ::1]):
        assert (model.predict(form) == expected).all()
    assert (model.predict(x.T.copy().T) == model.predict(x)).all()  # not contiguous
    with pytest.raises(ValueError, match="threads = -1"):
        model.predict(x, threads=-1)
    for wrong in (x[:, :63], x.astype(np.float32) + 0.5, np.zeros((2, 64)) - 1, np.full((1, 64), np.nan)):
        with pytest.raises(ValueError):
            model.predict(wrong)


def test_files_and_exports(bars: Example, network: ig.Network, tmp_path: Path) -> None:
    x, _ = bars
    model = network.pack()
    model.save(tmp_path / "model.safetensors")
    again = ig.load(tmp_path / "model.safetensors")
    assert again == model and pickle.loads(pickle.dumps(model)) == model
    assert (again.predict(x) == model.predict(x)).all()
    assert again.provenance["surrogate"] == "deterministic" and "bytes" in repr(again)
    result = run_command("inspect", str(tmp_path / "model.safetensors"), "--format", "json")
    assert result.returncode == 0, result.stderr

    model.export(tmp_path / "model.onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    outputs = session.run(None, {session.get_inputs()[0].name: x})
    assert any((np.asarray(output).ravel() == model.predict(x)).all() for output in outputs if np.asarray(output).size == len(x))


def test_the_exported_c_compiles(network: ig.Network, tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    network.pack().export(tmp_path / "my model.c")
    library = tmp_path / "model.so"
    subprocess.run([compiler, "-std=c99", "-O2", "-shared", "-fPIC", "-o", str(library), str(tmp_path / "my model.c")], check=True)
    assert ctypes.CDLL(str(library))
    assert "my_model" in (tmp_path / "my model.c").read_text()


def test_files_that_are_not_ours_are_left_alone(network: ig.Network, tmp_path: Path) -> None:
    model, other = network.pack(), tmp_path / "thesis.safetensors"
    other.write_text("mine")
    with pytest.raises(ValueError, match="not replaced"):
        model.save(other)
    assert other.read_text() == "mine"
    with pytest.raises(FileNotFoundError, match="nothing.safetensors"):
        ig.load(tmp_path / "nothing.safetensors")
    with pytest.raises(ValueError, match="not a packed network"):
        ig.load(other)
    with pytest.raises(ValueError, match="ends in .onnx or .c"):
        model.export(tmp_path / "model.txt")
    for save in (network.save, model.save):
        with pytest.raises(FileNotFoundError):
            save(tmp_path / "no" / "such" / "directory.safetensors")
    with pytest.raises(FileNotFoundError):
        model.export(tmp_path / "no" / "model.c")
    with pytest.raises(IsADirectoryError):
        model.save(tmp_path)
    with pytest.raises(ValueError, match="not replaced"):
        network.save(other)
    assert other.read_text() == "mine"
    network.save(tmp_path / "own.safetensors")
    network.save(tmp_path / "own.safetensors")


def test_labels_are_given_back_by_files_too(bars: Example) -> None:
    x, y = bars
    for labels in (np.where(y == 1, 7, -2), y.astype(bool), np.where(y == 1, "column", "row"), y + 0.5):
        network = ig.train(x, labels, hidden=(33,), epochs=30, batch=16, progress=False)
        model = ig.PackedModel.from_bytes(network.pack().to_bytes())
        assert model.predict(x).dtype.kind == labels.dtype.kind and set(model.predict(x)) == set(labels)
        assert network.score(x, labels) == (model.predict(x) == labels).mean() > 0.8


def test_arrays_at_odd_addresses_are_taken(bars: Example) -> None:
    table = bars[0][:, :6].astype(np.float32)
    odd = np.frombuffer(b"x" + table.tobytes(), np.uint8)[1:].view(np.float32).reshape(table.shape)
    assert not odd.flags.aligned
    model = ig.train(odd, bars[1], hidden=(9,), epochs=1, progress=False).pack(odd)
    assert (model.predict(odd) == model.predict(table)).all()


def test_many_threads_share_a_model(bars: Example, network: ig.Network) -> None:
    x, _ = bars
    model = network.pack()
    expected = model.predict_proba(x)

    def predict(_: int) -> bool:
        return bool((model.predict_proba(x) == expected).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(predict, range(200)))


def test_ensembles_and_tables(bars: Example) -> None:
    x, y = bars
    loose = ig.train(x, y, hidden=(33,), epochs=4, goal="surrogate", progress=False)
    ensemble = loose.pack(draws=7, seed=2)
    assert ensemble._native.networks == 7
    assert (ensemble.predict_proba(x) == loose.predict_proba(x, network="sampled", draws=7, seed=2)).all()

    table = np.column_stack([x[:, :5].astype(np.float64) / 7.0, 1e4 + x[:, 5]])
    of_table = ig.train(table, y, hidden=(33,), epochs=4, progress=False)
    model = of_table.pack(table)
    assert model.dtype == np.float32
    assert (model.predict_proba(table) == of_table.predict_proba(table)).all()
    with pytest.raises(ValueError, match="missing value"):
        model.predict(np.full((1, 6), np.nan))


def test_networks_without_bits_say_so(bars: Example) -> None:
    x, y = bars
    continuous = ig.train(x, y, hidden=(9,), epochs=2, surrogate="lrt-continuous", progress=False)
    assert continuous.predict(x).shape == (400,) and not continuous.is_packable
    with pytest.raises(ValueError, match="XNOR needs ±1 on both sides"):
        continuous.pack()


def test_checkpoints_go_both_ways(network: ig.Network, tmp_path: Path, bars: Example) -> None:
    network.save(tmp_path / "network.safetensors")
    assert ig.Network.load(tmp_path / "network.safetensors") == network
    damaged = bytearray(network.to_bytes())
    damaged[-1] ^= 1
    with pytest.raises(ValueError, match="damaged"):
        ig.Network.from_bytes(bytes(damaged))
    np.save(tmp_path / "x.npy", bars[0])
    np.save(tmp_path / "y.npy", bars[1])
    files = [word for part in ("train", "test") for word in (f"--{part}-images", str(tmp_path / "x.npy"), f"--{part}-labels", str(tmp_path / "y.npy"))]
    result = run_command("evaluate", str(tmp_path / "network.safetensors"), *files, "--format", "json")
    assert result.returncode == 0, result.stderr


def test_means_are_arrays(network: ig.Network) -> None:
    shapes: list[Any] = [means.shape for means, _ in network.layers]
    assert shapes == [(33, 64), (17, 33), (2, 17)]
    assert all((np.abs(means) == 1).all() for means, _ in network.layers)  # polarised
    drawn = ig.Network.draw(inputs=20, hidden=(15, 15, 15), classes=3, init="two-point", sigma_m2=0.25, carry=True, seed=5)
    assert (np.abs(drawn.layers[0][0]) == 0.5).all() and drawn._native.carried == [0, 0, 1, 0]
    with pytest.raises(ValueError, match="cannot exceed 1"):
        ig.Network.draw(inputs=20, hidden=(15,), classes=3, init="two-point", sigma_m2=2.0)
