"""PyTorch networks to and from checkpoints and packed bits."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import isinglass as ig  # noqa: E402
from isinglass import _native  # noqa: E402
from isinglass._network import Network  # noqa: E402
from isinglass.torch import (  # noqa: E402
    Polarise,
    Preprocessing,
    from_checkpoint,
    from_network,
    mlp,
    to_checkpoint,
    to_network,
    to_packed,
)


def images(count: int, features: int, seed: int = 1) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).integers(0, 256, (count, features), dtype=np.uint8))


def assert_equal_bits(network: Network, other: Network) -> None:
    assert network.config == other.config
    for (means, bias), (of_means, of_bias) in zip(network.layers, other.layers, strict=True):
        assert np.array_equal(means, of_means) and np.array_equal(bias, of_bias)
    rule, of_rule = network.input, other.input
    assert rule.keys() == of_rule.keys()
    assert all(np.array_equal(rule[key], of_rule[key]) for key in rule)


@pytest.mark.parametrize("carry", [False, True])
@pytest.mark.parametrize("surrogate", ["deterministic", "lrt-binary", "lrt-continuous", "continuous", "ste"])
def test_checkpoints_keep_every_bit(surrogate: Any, carry: bool, tmp_path: Path) -> None:
    raw = images(50, 12)
    net = mlp(12, (8, 8, 8), 3, surrogate=surrogate, carry=carry, tau=1.5, sigma_b2=0.2, preprocessing=Preprocessing.fit(raw), seed=4)
    first, second = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    to_checkpoint(net, first)
    again = from_checkpoint(first)
    to_checkpoint(again, second)
    assert first.read_bytes() == second.read_bytes()
    assert_equal_bits(Network.load(first), to_network(net))
    for layer, other in zip(net.layers, again.layers, strict=True):
        assert torch.equal(layer.means, other.means) and torch.equal(layer.bias, other.bias)
        assert (layer.carried, layer.tau, layer.rule) == (other.carried, other.tau, other.rule)
    noise = [torch.randn(50, layer.outputs) for layer in net.layers]
    torch.testing.assert_close(net(raw, noise=noise), again(raw, noise=noise))


@pytest.mark.parametrize("means", ["tanh", "clip"])
def test_polarised_networks_stay_polarised(means: Any) -> None:
    net = mlp(12, (8, 8), 3, means=means, preprocessing=Preprocessing.fit(images(50, 12)), seed=4)
    Polarise(net, steps=1).finish()
    network = to_network(net)
    assert all((np.abs(layer) == 1).all() for layer, _ in network.layers)
    for loaded in ("tanh", "clip"):
        assert_equal_bits(to_network(from_network(network, means=loaded)), network)  # type: ignore[arg-type]


def test_the_surrogate_is_the_engines_from_raw_values_to_probabilities() -> None:
    raw = images(64, 12)
    net = mlp(12, (32, 32), 3, preprocessing=Preprocessing.fit(raw), means="clip", seed=4)
    network = to_network(net)
    assert np.array_equal(net.inputs(raw).numpy(), network.inputs(raw.numpy()))
    expected = network.predict_proba(raw.numpy(), network="surrogate")
    np.testing.assert_allclose(net(raw).softmax(1).detach().numpy(), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", ["bytes", "table"])
@pytest.mark.parametrize("goal", ["binary", "surrogate"])
def test_networks_that_the_engine_trained_continue_in_pytorch(goal: str, kind: str) -> None:
    random = np.random.default_rng(5)
    rows: Any = random.integers(0, 256, (200, 9), dtype=np.uint8)
    if kind == "table":
        rows = (random.normal(size=(200, 9)) * np.logspace(-2, 2, 9)).astype(np.float32)
    labels = (rows[:, 0] > np.median(rows[:, 0])).astype(np.uint8)
    settings = {"hidden": [20, 20, 20], "carry": "on", "epochs": 5, "goal": goal, "tau": 1.5}
    network = Network(_native.train(settings, rows, labels, 2, None, None, None, 1, None)[0])
    net, raw = from_network(network), torch.from_numpy(rows)
    assert_equal_bits(to_network(net), network)
    np.testing.assert_allclose(net(raw).softmax(1).detach().numpy(), network.predict_proba(rows, network="surrogate"), rtol=1e-4)
    np.testing.assert_allclose(net.binary()(raw).softmax(1).numpy(), network.predict_proba(rows, network="binary"), rtol=1e-12)
    assert np.array_equal(to_packed(net, check=raw).predict(rows), network.pack().predict(rows))


@pytest.mark.parametrize("features", [None, "image", "table"])
@pytest.mark.parametrize("kind", ["bytes", "floats"])
def test_input_rules_are_those_that_the_engine_chooses(kind: str, features: Any) -> None:
    random = np.random.default_rng(3)
    rows: Any = random.integers(0, 256, (90, 7), dtype=np.uint8)
    if kind == "floats":
        rows = (random.normal(size=(90, 7)) * np.logspace(-3, 3, 7) + np.arange(7)).astype(np.float32)
    rows[:, 2] = 5  # a constant column
    labels = (np.arange(90) % 2).astype(np.uint8)
    settings: dict[str, Any] = {"hidden": [5], "epochs": 1, "validation": 0.0}
    if features is not None:
        settings["features"] = features
    trained = _native.train(settings, rows, labels, 2, None, None, None, 1, None)[0]
    rule, expected = Preprocessing.fit(torch.from_numpy(rows), features=features), trained.input
    found = rule.to_dict()
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert np.array_equal(found[key], value), key
    assert np.array_equal(rule(torch.from_numpy(rows)).numpy(), trained.inputs(rows))
    # Beyond the range of training, and rounding to even.
    other = rows * 3 if kind == "floats" else rows[::-1].copy()
    assert np.array_equal(rule(torch.from_numpy(other)).numpy(), trained.inputs(other))


def test_wide_networks_keep_the_rule_in_float32() -> None:
    raw = images(20, 6)
    net = mlp(6, (4,), 2, preprocessing=Preprocessing.fit(raw), seed=1)
    before = net.inputs(raw)
    assert torch.equal(net.double().inputs(raw), before.double())
    assert net.preprocessing is not None and net.preprocessing.scale.dtype == torch.float32
    assert net.to(torch.bfloat16).preprocessing.offset.dtype == torch.float32


def test_packing_needs_to_know_how_bytes_become_inputs() -> None:
    net = mlp(6, (4,), 2, seed=1)
    with pytest.raises(ValueError, match="no preprocessing"):
        to_packed(net)
    model = to_packed(net, preprocessing=Preprocessing.normalising(0.5, 0.25))
    raw = images(100, 6)
    net.preprocessing = Preprocessing.normalising(0.5, 0.25)
    assert np.array_equal(model.predict(raw.numpy()), net.binary()(raw).argmax(1).numpy())
    torch.testing.assert_close(net.inputs(raw), (raw.float() / 255 - 0.5) / 0.25)


@pytest.mark.parametrize("surrogate", ["continuous", "lrt-continuous"])
def test_networks_without_bits_are_refused(surrogate: Any) -> None:
    net = mlp(6, (4,), 2, surrogate=surrogate, preprocessing=Preprocessing(0, 1), seed=1)
    with pytest.raises(ValueError, match="real numbers"):
        to_packed(net)
    if surrogate == "continuous":
        with pytest.raises(ValueError, match="no binary network"):
            net.binary()
    else:
        raw = images(20, 6)
        found = net.binary()(raw).softmax(1)
        expected = to_network(net).predict_proba(raw.numpy(), network="binary")
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("surrogate", ["deterministic", "lrt-binary", "ste"])
@pytest.mark.parametrize(("hidden", "carry"), [((33, 20), False), ((40, 40, 40, 40), True), ((64,), False), ((31, 31, 31, 16, 16, 16), True)])
def test_packed_networks_are_the_signs_of_the_module(surrogate: Any, hidden: tuple[int, ...], carry: bool) -> None:
    raw = images(500, 50)
    net = mlp(50, hidden, 4, surrogate=surrogate, carry=carry, sigma_b2=0.3, preprocessing=Preprocessing.fit(raw), seed=2)
    model, binary = to_packed(net, check=raw), net.binary()
    logits = binary(raw)
    assert np.array_equal(logits.argmax(1).numpy(), model.predict(raw.numpy()))
    np.testing.assert_allclose(logits.softmax(1).numpy(), model.predict_proba(raw.numpy()), rtol=1e-12)


def test_tables_are_packed_too() -> None:
    table = torch.randn(300, 6) * torch.logspace(-2, 3, 6)
    net = mlp(6, (40, 40), 3, preprocessing=Preprocessing.fit(table), seed=2)
    model = to_packed(net, check=table)
    assert np.array_equal(net.binary()(table).argmax(1).numpy(), model.predict(table.numpy()))


def compare_on(data: dict[str, Any]) -> None:
    """A short run, then the packed network beside the module's own, class by class, before and after polarisation."""
    values, labels = (torch.from_numpy(np.array(array)) for array in data["train"])
    test, test_labels = (torch.from_numpy(np.array(array)) for array in data["test"])
    values, labels = values[:6000].flatten(1), labels[:6000].long()
    test = test.flatten(1)
    torch.manual_seed(1)
    net = mlp(784, (101, 101), 10, preprocessing=Preprocessing.fit(values), seed=1)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.03)
    batches = [batch for _ in range(3) for batch in torch.randperm(len(values)).split(100)]
    polarise = Polarise(net, steps=len(batches))
    for batch in batches:
        loss = torch.nn.functional.cross_entropy(net(values[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        polarise.step()
        if polarise.done == len(batches) // 2:
            assert np.array_equal(net.binary()(test).argmax(1).numpy(), to_packed(net).predict(test.numpy()))
    found = to_packed(net, check=test).predict(test.numpy())
    assert np.array_equal(net.binary()(test).argmax(1).numpy(), found)
    assert (found == test_labels.numpy()).mean() > 0.85
    # Means of ±1: the surrogate is the binary network.
    assert (net(test).argmax(1).numpy() == found).mean() > 0.999


def test_packed_equals_the_module_on_generated_digits() -> None:
    compare_on(_native.load_data("digits", None))


def test_packed_equals_the_module_on_mnists_10000_test_images() -> None:
    directory = os.environ.get("ISINGLASS_DATA")
    if directory is None:
        pytest.skip("ISINGLASS_DATA is not set: no directory with MNIST")
    data = _native.load_data("mnist", directory)
    assert len(data["test"][1]) == 10_000
    compare_on(data)


def test_what_the_packed_network_would_refuse_is_refused_in_pytorch_too() -> None:
    images = torch.randint(256, (40, 16), dtype=torch.uint8)
    net = ig.torch.mlp(16, (9,), 2, preprocessing=ig.torch.Preprocessing.fit(images), seed=1)
    assert torch.equal(net(images), net(images.float()))  # bytes stored as floats
    with pytest.raises(ValueError, match="takes bytes"):
        net(images.float() / 255)
    table = torch.randn(40, 3)
    of_table = ig.torch.mlp(3, (9,), 2, preprocessing=ig.torch.Preprocessing.fit(table), seed=1)
    assert of_table(torch.full((1, 3), float("nan"))).isnan().all()  # not byte 128
    with pytest.raises(TypeError, match="only what mlp"):
        ig.torch.to_packed(torch.nn.Sequential())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one example"):
        ig.torch.Preprocessing.fit(torch.zeros(0, 3))
