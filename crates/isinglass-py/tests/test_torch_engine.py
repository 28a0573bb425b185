"""The PyTorch modules in float32 against the engine: the same initial means, losses and gradients."""

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from isinglass import _native  # noqa: E402
from isinglass.torch import BinaryLinear, mlp  # noqa: E402

SIGMOIDS = ["probit:0.7", "logistic:0.8", "erf:0.9", "tanh:1.3"]
CASES = [
    *[("deterministic", neuron) for neuron in ["sign", *SIGMOIDS]],
    *[(surrogate, neuron) for surrogate in ("lrt-binary", "lrt-continuous", "continuous") for neuron in SIGMOIDS],
    ("ste", "sign"),
]
# Inputs, hidden layers, classes, examples: sizes that fit no vector, and some that do.
PLAIN = [(5, [3, 3], 2, 3), (1, [1], 2, 1), (17, [31, 31, 31], 10, 33), (64, [48, 48], 3, 16), (300, [101], 10, 50), (23, [48, 17, 31, 64], 5, 21)]
# Whole chains, chains that a change of width breaks, and a first layer with as many inputs as neurons.
CARRIED = [(17, [31] * 5, 10, 33), (20, [33] * 14, 4, 20), (23, [48, 48, 48, 17, 17, 17, 64], 5, 21), (16, [16] * 4, 3, 40)]
TOLERANCE = 1e-5


def config(surrogate: str, neuron: str, sizes: tuple[int, list[int], int, int], carry: bool, tau: float) -> dict[str, Any]:
    inputs, hidden, classes, _ = sizes
    drawn = {"init": "uniform", "sigma_m2": 0.3, "sigma_b2": 0.1}
    return {"inputs": inputs, "hidden": hidden, "classes": classes, "surrogate": surrogate, "neuron": neuron, "tau": tau, "carry": carry, **drawn}


def check(surrogate: str, neuron: str, sizes: tuple[int, list[int], int, int], *, carry: bool, variance_gradient: bool = True, tau: float = 1.0) -> None:
    settings = config(surrogate, neuron, sizes, carry, tau)
    inputs, _, classes, examples = sizes
    random = np.random.default_rng(9)
    x = random.normal(size=(examples, inputs)).astype(np.float32)
    labels = (np.arange(examples) * 7 % classes).astype(np.uint8)
    engine = _native.Network.draw(settings, 5)
    loss, gradients = engine.gradients(x, labels, variance_gradient, 1)

    hidden = settings.pop("hidden")
    settings.pop("inputs"), settings.pop("classes")
    net = mlp(inputs, hidden, classes, **settings, means="clip", variance_gradient=variance_gradient, seed=5)
    noise = [torch.from_numpy(_native.lrt_noise(0, 0, index, layer.outputs, examples)).T for index, layer in enumerate(net.layers)]
    found = torch.nn.functional.cross_entropy(net(torch.from_numpy(x), noise=noise), torch.from_numpy(labels).long())
    found.backward()

    assert abs(found.item() - loss) <= TOLERANCE * max(loss, 1.0)
    for index, (layer, (means, bias)) in enumerate(zip(net.layers, gradients, strict=True)):
        for what, ours, engines in (("means", layer.theta.grad, means), ("bias", layer.bias.grad, bias)):
            largest = max(np.abs(engines).max(), 1e-9)
            worst = np.abs(ours.numpy() - engines).max()
            assert worst <= TOLERANCE * largest, f"{what} of layer {index} are off by {worst} of {largest}"


@pytest.mark.parametrize(("surrogate", "neuron"), CASES)
def test_losses_and_gradients_are_those_of_the_engine(surrogate: str, neuron: str) -> None:
    for sizes in PLAIN:
        check(surrogate, neuron, sizes, carry=False)
    check(surrogate, neuron, PLAIN[2], carry=False, variance_gradient=False)
    check(surrogate, neuron, PLAIN[2], carry=False, tau=2.5)


@pytest.mark.parametrize(("surrogate", "neuron"), CASES)
def test_losses_and_gradients_of_carried_fields_are_those_of_the_engine(surrogate: str, neuron: str) -> None:
    for sizes in CARRIED:
        check(surrogate, neuron, sizes, carry=True)
    check(surrogate, neuron, CARRIED[2], carry=True, variance_gradient=False)
    check(surrogate, neuron, CARRIED[0], carry=True, tau=2.5)


@pytest.mark.parametrize("init", ["auto", "critical", "two-point", "hadamard", "aligned", "aligned:3", "clipped-gaussian", "uniform", "glorot", "he"])
def test_initial_means_have_the_bits_of_the_engine(init: str) -> None:
    settings = {"inputs": 20, "hidden": [16, 8], "classes": 3, "init": init, "sigma_b2": 0.1}
    engine = _native.Network.draw(settings, 7)
    clipped = mlp(20, (16, 8), 3, init=init, sigma_b2=0.1, means="clip", seed=7)
    for layer, (means, bias) in zip(clipped.layers, engine.layers, strict=True):
        assert np.array_equal(layer.means.detach().numpy(), means)
        assert np.array_equal(layer.bias.detach().numpy(), bias)
    # tanh(θ) is M up to rounding, with the engine's θ: atanh in 64 bits.
    smooth = mlp(20, (16, 8), 3, init=init, sigma_b2=0.1, seed=7)
    for layer, (means, _) in zip(smooth.layers, engine.layers, strict=True):
        theta = np.arctanh(np.clip(means.astype(np.float64), -(1 - 1e-6), 1 - 1e-6)).astype(np.float32)
        assert np.array_equal(layer.theta.detach().numpy(), theta)
        assert np.abs(layer.means.detach().numpy() - means).max() <= 2e-6


def test_a_layer_draws_what_the_first_layer_of_a_network_does() -> None:
    layer = BinaryLinear(20, 16, init="two-point", sigma_m2=0.81, means="clip", seed=3)
    means, _ = _native.Network.draw({"inputs": 20, "hidden": [16], "classes": 2, "init": "two-point", "sigma_m2": 0.81}, 3).layers[0]
    assert np.array_equal(layer.means.detach().numpy(), means)


def test_straight_through_estimation_starts_from_latent_weights() -> None:
    # Signs alone would say nothing about how far a weight is from changing.
    latent = mlp(20, (16, 8), 3, surrogate="ste", seed=7).layers[0].theta.detach()
    uniform, _ = _native.Network.draw({"inputs": 20, "hidden": [16, 8], "classes": 3, "init": "uniform"}, 7).layers[0]
    assert np.array_equal(latent.numpy(), uniform)


def test_torch_seeds_decide_unless_a_seed_is_given() -> None:
    def drawn(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return mlp(5, (4,), 2).layers[0].theta.detach()

    assert torch.equal(drawn(1), drawn(1))
    assert not torch.equal(drawn(1), drawn(2))


def test_a_generator_gives_the_noise() -> None:
    net = mlp(5, (4,), 2, surrogate="lrt-binary", seed=1)
    x = torch.randn(3, 5)

    def logits(seed: int) -> torch.Tensor:
        return net(x, generator=torch.Generator().manual_seed(seed))

    assert torch.equal(logits(1), logits(1))
    assert not torch.equal(logits(1), logits(2))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"sigma_m2": 1.2, "init": "two-point"}, "σ_m² = 1.2: the variance of means in \\[-1, 1\\] cannot exceed 1"),
        ({"sigma_m2": 0.5}, "init auto chooses σ_m² itself"),
        ({"hidden": ()}, "at least one hidden layer"),
        ({"hidden": (5, 0)}, "width = 0"),
        ({"classes": 1}, "classes = 1"),
        ({"tau": 0.0}, "tau = 0"),
        ({"surrogate": "lrt-binary", "neuron": "sign"}, "a step has no gradient"),
        ({"surrogate": "ste", "neuron": "tanh:1"}, "straight-through"),
        ({"surrogate": "stochastic"}, "stochastic"),
        ({"neuron": "relu"}, "not the mean of a ±1 neuron"),
        ({"neuron": "probit:-1"}, "probit"),
        ({"init": "zeros"}, "zeros"),
        ({"means": "sigmoid"}, "use 'tanh' or 'clip'"),
    ],
)
def test_impossible_networks_are_refused_with_the_engines_sentence(settings: dict[str, Any], sentence: str) -> None:
    usual = {"hidden": (4,), "classes": 2}
    given = {**usual, **settings}
    with pytest.raises(ValueError, match=sentence):
        mlp(5, given.pop("hidden"), given.pop("classes"), **given, seed=1)


def test_inputs_that_do_not_fit_are_refused() -> None:
    net = mlp(6, (4,), 2, seed=1)
    assert net(torch.zeros(3, 2, 3)).shape == (3, 2)  # images are flattened
    with pytest.raises(ValueError, match="rows of 6 values"):
        net(torch.zeros(3, 5))
    with pytest.raises(ValueError, match="rows of 6 values"):
        net(torch.zeros(6))
    with pytest.raises(ValueError, match="no preprocessing"):
        net(torch.zeros(3, 6, dtype=torch.uint8))
    with pytest.raises(ValueError, match="the network has 2"):
        net(torch.zeros(3, 6), noise=[torch.zeros(3, 4)])
    layer = BinaryLinear(6, 6, source="neurons", carried=1, seed=1)
    with pytest.raises(ValueError, match="receives the field"):
        layer(torch.zeros(3, 6))
    with pytest.raises(ValueError, match="as many inputs as outputs"):
        BinaryLinear(6, 5, source="neurons", carried=1, seed=1)
    with pytest.raises(ValueError, match="last dimension must be 6"):
        layer(torch.zeros(3, 7))
