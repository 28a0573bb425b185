"""The first five minutes: theory, training, packing, deploying. Run it with ``python quickstart.py``; it takes about a minute."""

from __future__ import annotations

import tempfile
from pathlib import Path

import isinglass as ig


def ask_the_theory() -> None:
    point = ig.theory.point("deterministic", neuron="sign", sigma_m2=0.9, sigma_b2=0.001)
    advice = ig.theory.advise("deterministic", neuron="erf:1", depth=40)
    diagram = ig.theory.phase_diagram("deterministic", "sign", x=(0, 2, 100), y=(1e-6, 1, 100))
    print(point.phase, point.chi_1, advice.best.sigma_m2, diagram.chi_1.shape)
    print(point.verdict)


def train_and_deploy(directory: Path, epochs: int = 10) -> float:
    digits = ig.datasets.load("digits")  # generated, nothing to download
    x_train, y_train = digits.train
    x_test, y_test = digits.test

    clf = ig.BinaryMLPClassifier(hidden=(256, 256), epochs=epochs, random_state=0)
    clf.fit(x_train, y_train)
    accuracy: float = clf.score(x_test, y_test)  # of the deterministic binary network: what is deployed
    print(f"accuracy {100 * accuracy:.2f} %, {len(clf.history_)} epochs, {len(clf.diagnosis_.layers)} layers")
    clf.plot().save(directory / "curves.svg")

    model = clf.pack()
    model.save(directory / "model.safetensors")
    model.export(directory / "model.c")
    model.export(directory / "model.onnx")

    deployed = ig.load(directory / "model.safetensors")
    assert (deployed.predict(x_test) == clf.predict(x_test)).all()
    return accuracy


def sweep(directory: Path) -> None:
    grid = {"train": {"epochs": 1, "width": 32, "train_fraction": 0.05}, "grid": {"depth": [1, 2, 3], "seed": [1, 2]}}
    results = ig.sweep(grid, out=directory / "sweep")
    print(results)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        ask_the_theory()
        train_and_deploy(Path(scratch))
        sweep(Path(scratch))
