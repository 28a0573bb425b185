"""The theory gives the numbers of the command line, all of them."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import isinglass as ig

Cli = Callable[..., Any]


def close(found: Any, expected: Any) -> bool:
    """Equal to 1e-15, nested values included; NaN stands for what JSON calls null."""
    if isinstance(expected, dict):
        return all(close(found[key], value) for key, value in expected.items())
    if isinstance(expected, list):
        return len(found) == len(expected) and all(close(one, other) for one, other in zip(found, expected))
    if expected is None:
        return found is None or found == "" or math.isnan(found)
    if isinstance(expected, float):
        return math.isclose(float(found), expected, rel_tol=1e-15, abs_tol=0.0)
    return bool(found == expected)


@pytest.mark.parametrize(
    ("model", "neuron", "variances"),
    [
        ("deterministic", "sign", {"sigma_m2": 0.9, "sigma_b2": 0.001}),
        ("deterministic", "logistic:0.5", {"sigma_m2": 0.4}),
        ("lrt-continuous", "tanh", {"sigma_m2": 0.99, "sigma_b2": 0.1}),
        ("lrt-binary", "probit:1", {"sigma_m2": 0.7}),
        ("continuous", "tanh", {"sigma_w2": 1.76, "sigma_b2": 0.05}),
        ("continuous", "relu", {"sigma_w2": 2.0}),
        ("binary", "sign", {"sigma_b2": 0.1}),
    ],
)
def test_points_are_those_of_the_command_line(cli: Cli, model: str, neuron: str, variances: dict[str, float]) -> None:
    point = ig.theory.point(model, neuron, **variances)
    flags = [word for key, value in variances.items() for word in (f"--{key.replace('_', '-')}", str(value))]
    expected = cli("theory", "point", "--model", model, "--neuron", neuron, *flags)
    assert close(point.to_dict(), expected)
    assert point.to_dict().keys() == expected.keys()


def test_every_question_gives_the_answer_of_the_command_line(cli: Cli) -> None:
    carried = ig.theory.point("deterministic", "sign", sigma_m2=0.333, carry=True)
    assert close(carried.to_dict(), cli("theory", "point", "--sigma-m2", "0.333", "--carry"))

    signals = ig.theory.trajectory("deterministic", "sign", sigma_m2=0.9, q_b=2.0, depth=12)
    layers = cli("theory", "trajectory", "--sigma-m2", "0.9", "--q-b", "2", "--depth", "12")["layers"]
    for name in ("q_a", "q_b", "c", "one_minus_c"):
        assert close(getattr(signals, name), [layer[name] for layer in layers])

    carried_signals = ig.theory.trajectory("deterministic", "sign", sigma_m2=0.333, depth=20, carry=True, input_variance=0.1)
    layers = cli("theory", "trajectory", "--sigma-m2", "0.333", "--depth", "20", "--carry", "--input-variance", "0.1")["layers"]
    assert isinstance(carried_signals, ig.theory.CarriedTrajectory)
    assert close(carried_signals.spread_a, [layer["spread_a"] for layer in layers])

    mapped = ig.theory.correlation_map("binary", sigma_b2=0.1, points=7)
    rows = cli("theory", "map", "--model", "binary", "--sigma-b2", "0.1", "--points", "7")["map"]
    assert close(mapped.c_out, [row["c_out"] for row in rows])

    line = ig.theory.critical_line("deterministic", "probit:1", points=5)
    answer = cli("theory", "critical-line", "--neuron", "probit:1", "--points", "5")
    assert close(line.sigma2, [row["sigma_m2"] for row in answer["points"]])
    assert (line.reachable, line.verdict) == (answer["reachable"], answer["verdict"])

    advice = ig.theory.advise("deterministic", neuron="erf:1", depth=40)
    assert close(advice.to_dict(), cli("theory", "advise", "--neuron", "erf:1", "--depth", "40"))
    nothing = ig.theory.advise("deterministic", neuron="sign", depth=40)
    assert nothing.smallest is None and close(nothing.to_dict(), cli("theory", "advise", "--depth", "40"))
    deep = ig.theory.advise("deterministic", "sign", depth=100, carry=True)
    expected = cli("theory", "advise", "--depth", "100", "--carry")
    assert deep.carry == expected["carry"] == "needed"
    assert close(deep.carried.signal, expected["carried"]["signal"])


def test_phase_diagrams_are_arrays(cli: Cli) -> None:
    diagram = ig.theory.phase_diagram("deterministic", "sign", x=(0, 2, 9), y=(1e-6, 1, 5))
    expected = cli("theory", "phase-diagram", "--grid", "9x5", "--x", "0:2", "--y", "1e-6:1")
    assert diagram.chi_1.shape == (5, 9) and diagram.x[-1] == 2.0 and diagram.y[0] == 1e-6
    assert close(diagram.chi_1, expected["chi_1"]) and close(diagram.q_star, expected["q_star"])
    assert diagram.phase.tolist() == [[phase or "" for phase in row] for row in expected["phase"]]
    assert np.isnan(diagram.chi_1[0, -1])  # σ_m² = 2

    lengths = ig.theory.phase_diagram("lrt-continuous", "tanh", x=(0, 1, 4), y=(0, 0.5, 3), quantity="xi_c")
    assert np.isfinite(lengths.xi_c[1, 1])

    carried = ig.theory.phase_diagram("deterministic", "sign", x=(0, 1, 4), y=(0, 0.5, 3), carry=True, depth=50)
    left = cli("theory", "phase-diagram", "--grid", "4x3", "--x", "0:1", "--y", "0:0.5", "--carry", "--depth", "50")
    assert close(carried.gradient, left["gradient"])


def test_answers_are_tables_and_pictures(tmp_path: Any) -> None:
    point = ig.theory.point("deterministic", neuron="sign", sigma_m2=0.9)
    assert "<table>" in point._repr_html_() and "chi_1" in str(point)
    signals = ig.theory.trajectory(sigma_m2=0.9, depth=100)
    assert "one_minus_c" in repr(signals) and len(repr(signals).splitlines()) < 40
    diagram = ig.theory.phase_diagram("continuous", "tanh", x=(0, 4, 20), y=(0, 0.5, 20))
    figure = diagram.plot()
    assert figure.svg.startswith("<svg") and figure._repr_svg_() in diagram._repr_html_()
    for answer in (signals, diagram):
        again = pickle.loads(pickle.dumps(answer))
        assert again == answer and hash(again) == hash(answer) and again.plot().svg == answer.plot().svg
    figure.save(tmp_path / "phase.svg")
    figure.save(tmp_path / "phase.png")
    assert (tmp_path / "phase.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="ends in .svg or .png"):
        figure.save(tmp_path / "phase.gif")


def test_what_cannot_be_is_a_value_error_with_the_sentence_of_the_command_line() -> None:
    with pytest.raises(ValueError, match=r"σ_m² = 1.2: the variance of means in \[-1, 1\] cannot exceed 1"):
        ig.theory.point("deterministic", sigma_m2=1.2)
    with pytest.raises(ValueError, match="model deterministic needs --sigma-m2"):
        ig.theory.point("deterministic")
    with pytest.raises(ValueError, match="unknown model"):
        ig.theory.point("determinist", sigma_m2=0.5)
    with pytest.raises(ValueError, match="a range is MIN:MAX"):
        ig.theory.phase_diagram("deterministic", "sign", x=(2, 1, 10))
    with pytest.raises(ValueError, match="at least 2"):
        ig.theory.critical_line(points=1)
    with pytest.raises(ValueError, match="depth = -1"):
        ig.theory.advise(depth=-1)
    with pytest.raises(ValueError, match="depth = 0"):
        ig.theory.advise(depth=0)


def test_planes_can_be_drawn_by_matplotlib() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    _, ax = pyplot.subplots()
    ig.theory.phase_diagram("deterministic", "sign", x=(0, 1, 5), y=(0, 1, 4)).plot(ax)
    assert ax.collections
