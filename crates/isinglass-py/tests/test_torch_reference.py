"""The PyTorch modules in float64 against the plain f64 network of the Rust tests: loss and gradients of every surrogate and neuron.

The file is written by `ISINGLASS_BLESS=1 cargo test -p isinglass-net --test torch_fixture`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from isinglass.torch import BinaryLinear, mlp  # noqa: E402

FIXTURE = json.loads((Path(__file__).parent / "fixtures" / "torch_reference.json").read_text())
CASES: list[dict[str, Any]] = FIXTURE["cases"]
TOLERANCE = 1e-12


def wide(values: Any) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def name(case: dict[str, Any]) -> str:
    parts = [case["surrogate"], case["neuron"], "carried" if case["carry"] else "plain", f"tau={case['tau']}", f"scale={case['scale']}"]
    return " ".join(parts + ([] if case["variance_gradient"] else ["fixed variance"]))


def network(case: dict[str, Any]) -> Any:
    inputs, *hidden, classes = FIXTURE["widths"]
    net = mlp(
        inputs,
        hidden,
        classes,
        surrogate=case["surrogate"],
        neuron=case["neuron"],
        init="uniform",
        tau=case["tau"],
        carry=case["carry"],
        means="clip",  # gradients of θ are then those of M
        variance_gradient=case["variance_gradient"],
        seed=1,
        dtype=torch.float64,
    )
    given = FIXTURE["networks"][case["network"]]
    with torch.no_grad():
        for index, layer in enumerate(net.layers):
            layer.set_means(wide(given["means"][index]))
            layer.bias.copy_(wide(given["bias"][index]) * (case["scale"] if index == 0 else 1))
    return net


def noise() -> list[torch.Tensor]:
    return [wide(layer).T for layer in FIXTURE["noise"]]


def assert_close(found: torch.Tensor, expected: torch.Tensor) -> None:
    """To a part of the largest number."""
    largest = max(expected.abs().max().item(), 1e-300)
    assert (found - expected).abs().max().item() <= TOLERANCE * largest


@pytest.mark.parametrize("case", CASES, ids=name)
def test_loss_and_gradients_match_the_reference(case: dict[str, Any]) -> None:
    net = network(case)
    logits = net(wide(FIXTURE["inputs"]) * case["scale"], noise=noise())
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(FIXTURE["labels"]))
    loss.backward()
    assert abs(loss.item() - case["loss"]) <= TOLERANCE * case["loss"]
    for index, layer in enumerate(net.layers):
        assert_close(layer.theta.grad, wide(case["means"][index]))
        assert_close(layer.bias.grad, wide(case["bias"][index]))


def test_the_file_has_every_surrogate_with_every_neuron() -> None:
    found = {(case["surrogate"], case["neuron"].split(":")[0], case["carry"]) for case in CASES}
    sampled = [(s, n) for s in ("lrt-binary", "lrt-continuous", "continuous") for n in ("probit", "logistic", "erf", "tanh")]
    averaged = [("deterministic", n) for n in ("sign", "probit", "logistic", "erf", "tanh")]
    assert found == {(s, n, carry) for s, n in [*sampled, *averaged, ("ste", "sign")] for carry in (False, True)}


@pytest.mark.parametrize("beta", [1.0, 3.0])
@pytest.mark.parametrize("means", ["tanh", "clip"])
def test_gradients_of_theta_are_those_of_the_means_times_the_slope(means: str, beta: float) -> None:
    case = CASES[0]
    direct, net = network(case), network(case)
    x, labels = wide(FIXTURE["inputs"]), torch.tensor(FIXTURE["labels"])
    other = [
        BinaryLinear._of(
            layer.means.detach(),
            layer.bias.detach(),
            surrogate=layer.surrogate,
            neuron=layer.neuron,
            source=layer.source,
            carried=layer.carried,
            tau=layer.tau,
            parametrisation=means,
            variance_gradient=True,
            dtype=torch.float64,
        )
        for layer in net.layers
    ]
    net.layers = torch.nn.ModuleList(other)
    for layer, plain in zip(net.layers, direct.layers, strict=True):
        layer.beta = beta
        with torch.no_grad():
            layer.theta.div_(beta)
            if means == "tanh":
                plain.theta.copy_(torch.tanh(beta * layer.theta))
    for each in (net, direct):
        torch.nn.functional.cross_entropy(each(x), labels).backward()
    for layer, plain in zip(net.layers, direct.layers, strict=True):
        slope = beta * (1 - plain.theta**2) if means == "tanh" else beta
        assert_close(layer.theta.grad, plain.theta.grad * slope)


def test_clipped_means_pass_gradients_beyond_the_clip() -> None:
    # As in the engine: θ could not return from beyond the clip otherwise.
    layer = BinaryLinear(3, 2, means="clip", tau=1.0, seed=1)
    layer.beta = 100.0
    assert (layer.means.abs() == 1).all()
    layer(torch.ones(1, 3))[0, 0].backward()
    assert (layer.theta.grad[0] != 0).all()


@pytest.mark.parametrize("neuron", ["sign", "erf:0.9", "tanh:1.3"])
def test_without_variance_the_neuron_is_the_sign_of_its_field(neuron: str) -> None:
    layer = BinaryLinear(3, 3, neuron=neuron, seed=1, dtype=torch.float64)
    with torch.no_grad():
        layer.bias.copy_(wide([0.2, 0.0, -0.1]))
    x = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    found = layer(x)
    assert found.tolist() == [[1.0, 1.0, -1.0]] * 2
    found.sum().backward()
    assert not layer.theta.grad.any() and not layer.bias.grad.any() and not x.grad.any()


def test_polarised_means_give_the_binary_network() -> None:
    torch.manual_seed(1)
    net = mlp(7, (9, 9, 9), 3, init="uniform", sigma_b2=0.1, carry=True, seed=2, dtype=torch.float64)
    for layer in net.layers:
        layer.beta = float("inf")
    x = torch.randn(50, 7, dtype=torch.float64)
    # The first layer's inputs are numbers: its variance is mean((1 − M²)x²) = 0.
    torch.testing.assert_close(net(x), net.binary()(x), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("surrogate", ["lrt-binary", "lrt-continuous"])
def test_sampled_fields_without_variance_have_no_noise(surrogate: Any) -> None:
    layer = BinaryLinear(3, 3, surrogate=surrogate, seed=1)
    zero = torch.zeros(2, 3)
    assert torch.equal(layer(zero, noise=torch.full((2, 3), 7.0)), layer.rule.activation.value(layer.bias * layer.rule.activation.gain).expand(2, 3))


def test_variance_keeps_its_digits_where_neurons_polarise() -> None:
    # h = 6.4/√0.64 = 8 in the first layer; means of 1 in the second, whose Σ is then 1 − φ(8)².
    first = BinaryLinear(1, 3, means="clip", seed=1, dtype=torch.float64)
    second = BinaryLinear(3, 2, means="clip", source="neurons", seed=1, dtype=torch.float64)
    with torch.no_grad():
        first.theta.fill_(0.6), first.bias.fill_(5.8), second.theta.fill_(1.0), second.bias.zero_()
    from isinglass.torch import Signal

    variance = second.respond(first.respond(Signal(torch.ones(1, 1, dtype=torch.float64)))).variance
    assert variance is not None
    assert_close(variance, wide([[2.488384229708712e-15] * 2]))
    # The same with means tanh(βθ) so close to 1 that float32 does not tell them from 1: 1 − tanh²(9) = 6.09e-8.
    close = BinaryLinear(1, 1, seed=1)
    with torch.no_grad():
        close.theta.fill_(9.0)
    found = close.respond(Signal(torch.ones(1, 1))).variance
    assert found is not None and abs(found.item() / 6.0919e-8 - 1) < 1e-4
