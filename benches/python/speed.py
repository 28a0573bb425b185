"""How much Python costs, and what packed networks gain over float ones: in turns, as ratios.

    pip install . && pip install scikit-learn onnxruntime onnx torch
    python benches/python/speed.py [--rounds 9] [--json]

| line | what is compared |
|---|---|
| fit | training seconds of `BinaryMLPClassifier.fit` over those of `isinglass train`, with the same settings (aim: at most 1.05) |
| predict, one image | microseconds of `PackedModel.predict` above the call in Rust (aim: at most 5) |
| predict against … | one image in another library over `PackedModel.predict`, one thread (aim: at least 20 for f32) |
| phase diagram | 400 × 400 points of `ig.theory.phase_diagram` over `isinglass theory phase-diagram`, less what starting a process takes (aim: at most 1.1) |

The other libraries are run by the partner of the benchmark `speed` of isinglass-bits, in a process of their own. What is not installed is left out.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import isinglass as ig

PARTNER = Path(__file__).parents[2] / "crates/isinglass-bits/benches/speed/partner.py"
SETTINGS: dict[str, Any] = {"hidden": (256, 256), "epochs": 3, "validation": 0.0, "train_fraction": 0.5}
SHAPES = ([784, 512, 512, 10], [784, 1024, 1024, 1024, 10])


def seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def command(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "isinglass", *words], check=True, capture_output=True)


def fit(rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Seconds of training, by each side's own clock."""
    digits = ig.datasets.load("digits")
    flags = [word for key, value in SETTINGS.items() for word in (f"--{key.replace('_', '-')}", ",".join(map(str, value)) if key == "hidden" else str(value))]
    ratios = []
    for _ in range(rounds):
        clf = ig.BinaryMLPClassifier(**SETTINGS, random_state=1, progress=False)
        clf.fit(*digits.train)
        own = sum(epoch["seconds"] for epoch in clf.history_)
        with tempfile.TemporaryDirectory() as directory:
            command("train", *flags, "--seed", "1", "--samples", "1", "--quiet", "--out", f"{directory}/run")
            run = ig.read_run(f"{directory}/run")
            assert run.network == clf.network_, "both sides must train the same network"
            ratios.append(own / sum(epoch["seconds"] for epoch in run.history))
    yield "fit, over the command line", ratios


def single_images(rounds: int) -> Iterator[tuple[str, list[float]]]:
    """One image at a time, on one thread."""
    for sizes in SHAPES:
        shape = "-".join(map(str, sizes))
        for name, values in images_through(sizes, rounds):
            yield f"{shape}: {name}", values


def images_through(sizes: list[int], rounds: int) -> Iterator[tuple[str, list[float]]]:
    digits = ig.datasets.load("digits")
    network = ig.train(*digits.train, hidden=sizes[1:-1], epochs=1, train_fraction=0.01, progress=False)
    model, image, count = network.pack(), digits.test[0][:1], 2000
    overheads, own = [], []

    def predict() -> None:
        for _ in range(count):
            model.predict(image)

    others = {name: [] for name in partner_sides()}
    with Partner(list(others), sizes) as partner:
        for _ in range(rounds):
            ours = seconds(predict) / count
            overheads.append(1e6 * (ours - model._native.time_classes(image, count) / count))
            own.append(1e6 * ours)
            for name, ratios in others.items():
                ratios.append(partner.time(name) / ours)
    yield "PackedModel.predict of one image, µs", own
    yield "the same, µs above the call in Rust", overheads
    for name, ratios in others.items():
        yield f"one image in {name}, over PackedModel.predict", ratios


def partner_sides() -> list[str]:
    process = subprocess.run([sys.executable, PARTNER], input='{"sides": true}\n', capture_output=True, text=True, check=False)
    lines = process.stdout.splitlines()
    return json.loads(lines[0])["sides"] if lines else []


class Partner:
    """The other libraries, set up for one image."""

    def __init__(self, sides: list[str], sizes: list[int]) -> None:
        self._process = subprocess.Popen([sys.executable, PARTNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for side in sides:
            self._ask({"setup": {"side": side, "sizes": sizes, "batch": 1, "threads": 1}})

    def time(self, side: str) -> float:
        return float(self._ask({"runs": 500, "slices": 3, "side": side})["seconds"]) / 500

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def __enter__(self) -> Partner:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)


def phase_diagram(rounds: int) -> Iterator[tuple[str, list[float]]]:
    """The same points, in this process and in the command line's."""
    ratios = []
    for _ in range(rounds):
        ours = seconds(lambda: ig.theory.phase_diagram("deterministic", "tanh", x=(0, 1.1, 400), y=(0, 0.5, 400)))
        words = ("theory", "phase-diagram", "--neuron", "tanh", "--x", "0:1.1", "--y", "0:0.5", "--grid")
        whole = seconds(lambda: command(*words, "400x400"))
        start = seconds(lambda: command(*words, "2x2"))
        ratios.append(ours / (whole - start))
    yield "phase diagram, over the command line", ratios


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    results = {}
    for part in (fit, single_images, phase_diagram):
        for name, values in part(arguments.rounds):
            results[name] = {"median": statistics.median(values), "least": min(values), "most": max(values)}
            if not arguments.json:
                print(f"{name:78} {statistics.median(values):8.3g}   ({min(values):.3g} to {max(values):.3g})", flush=True)
    if arguments.json:
        print(json.dumps({"instruction_sets": ig.instruction_sets(), "rounds": arguments.rounds, "results": results}, indent=2))
    else:
        print(f"medians of {arguments.rounds} rounds; instruction sets {', '.join(ig.instruction_sets())}")


if __name__ == "__main__":
    main()
