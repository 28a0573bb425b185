"""Training in a plain PyTorch loop: polarisation, what modules keep, and devices' dtypes."""

import copy
import math
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from isinglass import _native  # noqa: E402
from isinglass.torch import BinaryLinear, Polarise, Preprocessing, mlp, to_packed  # noqa: E402


def problem(count: int = 600) -> tuple[torch.Tensor, torch.Tensor]:
    """One random picture of 25 pixels for each of four classes, a fifth of whose pixels are drawn again."""
    generator = torch.Generator().manual_seed(3)
    pictures = torch.randint(2, (4, 25), generator=generator)
    labels = torch.arange(count) % 4
    noise = torch.randint(2, (count, 25), generator=generator)
    mask = torch.rand(count, 25, generator=generator) < 0.2
    return torch.where(mask, noise, pictures[labels]).mul(255).to(torch.uint8), labels


def train(net: Any, images: torch.Tensor, labels: torch.Tensor, steps: int = 150, lr: float = 0.03) -> Polarise:
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    polarise = Polarise(net, steps=steps)
    generator = torch.Generator().manual_seed(1)
    for _ in range(steps):
        batch = torch.randint(len(images), (64,), generator=generator)
        loss = torch.nn.functional.cross_entropy(net(images[batch], generator=generator), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        polarise.step()
    return polarise


@pytest.mark.parametrize("carry", [False, True])
@pytest.mark.parametrize(
    ("surrogate", "means"), [("deterministic", "tanh"), ("deterministic", "clip"), ("lrt-binary", "tanh"), ("lrt-binary", "clip"), ("ste", "clip")]
)
def test_a_plain_loop_trains_a_network_that_packs(surrogate: Any, means: Any, carry: bool) -> None:
    images, labels = problem()
    net = mlp(25, (64, 64, 64), 4, surrogate=surrogate, means=means, carry=carry, preprocessing=Preprocessing.fit(images), seed=1)
    train(net, images[:400], labels[:400], lr=0.03 if surrogate == "deterministic" else 0.01)
    assert all((layer.means.abs() == 1).all() for layer in net.layers)
    found = torch.from_numpy(to_packed(net).predict(images[400:].numpy()))
    assert torch.equal(found, net.binary()(images[400:]).argmax(1))
    assert (found == labels[400:]).float().mean() > 0.95


@pytest.mark.parametrize("carry", [False, True])
@pytest.mark.parametrize("means", ["tanh", "clip"])
@pytest.mark.parametrize("goal", ["surrogate", "binary"])
# Adam makes whole steps of gradients that are 0 but for rounding, as some of straight-through estimation are.
@pytest.mark.parametrize(("surrogate", "optimizer", "lr"), [("deterministic", "sgd", 1.0), ("deterministic", "adam", 0.01), ("ste", "sgd", 1.0)])
def test_a_loop_does_what_the_engine_does(surrogate: Any, optimizer: str, lr: float, goal: str, means: Any, carry: bool) -> None:
    # All examples in every batch, so that their order does not matter: a step is an epoch.
    images, labels = problem(80)
    steps, shape = 12, (16, 16, 16)
    settings = {"surrogate": surrogate, "init": "uniform", "sigma_b2": 0.1, "carry": carry}
    engine = _native.train(
        {
            **settings,
            "carry": "on" if carry else "off",
            "hidden": list(shape),
            "goal": goal,
            "means": means,
            "optimizer": optimizer,
            "lr": lr,
            "schedule": "constant",
            "batch": 80,
            "epochs": steps,
            "validation": 0.0,
            "seed": 6,
        },
        images.numpy(),
        labels.numpy().astype(np.uint8),
        4,
        None,
        None,
        None,
        1,
        None,
    )[0]
    net = mlp(25, shape, 4, **settings, means=means, preprocessing=Preprocessing.fit(images), seed=6)
    rule = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[optimizer](net.parameters(), lr=lr)
    polarise = Polarise(net, steps)
    for _ in range(steps):
        rule.zero_grad()
        torch.nn.functional.cross_entropy(net(images), labels).backward()
        rule.step()
        if goal == "binary":
            polarise.step()
        else:
            net.clip()
    for layer, (of_means, of_bias) in zip(net.layers, engine.layers, strict=True):
        # Biases depend on every step; a mean that ends at ±1 only on the sign.
        np.testing.assert_allclose(layer.bias.detach().numpy(), of_bias, atol=2e-4)
        differ = np.abs(layer.means.detach().numpy() - of_means)
        assert differ.max() < 2e-3 if goal == "surrogate" and surrogate != "ste" else (differ > 0).mean() < 2e-3


@pytest.mark.parametrize("surrogate", ["lrt-continuous", "continuous"])
def test_other_surrogates_train_too(surrogate: Any) -> None:
    images, labels = problem()
    net = mlp(25, (64, 64), 4, surrogate=surrogate, preprocessing=Preprocessing.fit(images), seed=1)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(100):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(images[:400]), labels[:400]).backward()
        optimizer.step()
    assert (net(images[400:]).argmax(1) == labels[400:]).float().mean() > 0.95


@pytest.mark.parametrize(("steps", "beta", "anneal_from"), [(100, 30.0, 0.6), (7, 30.0, 0.6), (1, 30.0, 0.6), (10, 100.0, 0.0), (3, 5.0, 0.9), (10, 1.0, 0.5)])
def test_beta_follows_the_engines_schedule(steps: int, beta: float, anneal_from: float) -> None:
    net = mlp(5, (4,), 2, seed=1)
    polarise = Polarise(net, steps, beta=beta, anneal_from=anneal_from)
    start = anneal_from * steps
    for step in range(steps):
        exponent = min((step - start) / max(steps - 1 - start, 1), 1)
        assert polarise.beta == (1.0 if step < start else pytest.approx(beta**exponent, rel=1e-15))
        assert all(layer.beta == polarise.beta for layer in net.layers)
        polarise.step()
    assert polarise.beta == math.inf
    with pytest.raises(ValueError, match=f"step {steps + 1} of {steps}"):
        polarise.step()


def test_means_are_the_same_function_of_theta_at_every_beta() -> None:
    for means, function in (("tanh", torch.tanh), ("clip", lambda x: x.clamp(-1, 1))):
        layer = BinaryLinear(5, 4, means=means, seed=1)  # type: ignore[arg-type]
        for beta in (1.0, 2.5, 30.0):
            layer.beta = beta
            assert torch.equal(layer.means, function(beta * layer.theta))
        layer.beta = math.inf
        with torch.no_grad():
            layer.theta[0, 0] = 0.0
        assert torch.equal(layer.means, torch.where(layer.theta < 0, -1.0, 1.0))


@pytest.mark.parametrize(("surrogate", "is_clipped"), [("deterministic", True), ("ste", True), ("continuous", False)])
def test_theta_is_clipped_where_means_are(surrogate: Any, is_clipped: bool) -> None:
    net = mlp(5, (4,), 2, surrogate=surrogate, means="clip", seed=1)
    with torch.no_grad():
        net.layers[0].theta.fill_(1.7)
    again = copy.deepcopy(net)
    net.clip()
    assert (net.layers[0].theta == (1.0 if is_clipped else 1.7)).all()
    if is_clipped:
        Polarise(again, steps=10).step()
        assert (again.layers[0].theta == 1.0).all()
    smooth = mlp(5, (4,), 2, seed=1)
    with torch.no_grad():
        smooth.layers[0].theta.fill_(1.7)
    Polarise(smooth, steps=10).step()
    assert (smooth.layers[0].theta == 1.7).all()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [({"steps": 0}, "steps = 0"), ({"beta": 0.5}, "beta = 0.5: must be from 1"), ({"anneal_from": 1.0}, "anneal_from = 1.0: must be a fraction")],
)
def test_impossible_schedules_are_refused(settings: dict[str, Any], sentence: str) -> None:
    net = mlp(5, (4,), 2, seed=1)
    with pytest.raises(ValueError, match=sentence):
        Polarise(net, **{"steps": 10, **settings})


def test_only_networks_with_means_are_polarised() -> None:
    with pytest.raises(ValueError, match="no BinaryLinear"):
        Polarise(torch.nn.Linear(2, 2), steps=10)
    with pytest.raises(ValueError, match="surrogate continuous"):
        Polarise(mlp(5, (4,), 2, surrogate="continuous", seed=1), steps=10)


def test_a_run_continues_from_its_state() -> None:
    images, labels = problem()

    def fresh() -> tuple[Any, Any, Polarise]:
        net = mlp(25, (16,), 4, preprocessing=Preprocessing.fit(images), seed=1)
        return net, torch.optim.Adam(net.parameters(), lr=0.03), Polarise(net, steps=30)

    def run(net: Any, optimizer: Any, polarise: Polarise, steps: int) -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(images), labels).backward()
            optimizer.step()
            polarise.step()

    straight, interrupted, resumed = fresh(), fresh(), fresh()
    run(*straight, 30)
    run(*interrupted, 25)
    for part, state in zip(resumed, interrupted, strict=True):
        part.load_state_dict(pickle.loads(pickle.dumps(state.state_dict())))
    assert resumed[0].layers[0].beta == interrupted[0].layers[0].beta > 1
    run(*resumed, 5)
    for a, b in zip(straight[0].state_dict().values(), resumed[0].state_dict().values(), strict=True):
        assert torch.equal(a, b)
    assert resumed[0].layers[0].beta == math.inf


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))], ids=["deepcopy", "pickle"])
def test_modules_are_copied_whole(duplicate: Any) -> None:
    images, _ = problem(20)
    net = mlp(25, (16, 16, 16), 4, carry=True, preprocessing=Preprocessing.fit(images), seed=1)
    for layer in net.layers:
        layer.beta = 3.0
    again = duplicate(net)
    assert torch.equal(net(images), again(images))
    assert again.layers[2].carried == 1 and again.layers[0].beta == 3.0
    with torch.no_grad():
        net.layers[0].theta.zero_()
    assert not torch.equal(net(images), again(images))


def test_state_dicts_hold_beta_as_a_tensor() -> None:
    net, other = mlp(5, (4,), 2, seed=1), mlp(5, (4,), 2, seed=2)
    net.layers[0].beta = 7.0
    state = net.state_dict()
    assert all(isinstance(value, torch.Tensor) for value in state.values())
    other.load_state_dict(state)
    assert other.layers[0].beta == 7.0
    assert torch.equal(other.layers[0].means, net.layers[0].means)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("surrogate", ["deterministic", "lrt-binary", "lrt-continuous", "continuous", "ste"])
def test_every_float_dtype_has_the_same_loss_up_to_its_digits(surrogate: Any, dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    x, labels = torch.randn(32, 20), torch.arange(32) % 3
    # With biases, so that no sum of signs is exactly at a threshold.
    net = mlp(20, (24, 24, 24), 3, surrogate=surrogate, carry=True, init="uniform", sigma_b2=0.1, seed=1)
    noise = [torch.randn(32, layer.outputs) for layer in net.layers]

    def loss(of: Any) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(of(x, noise=noise).float(), labels)

    expected = loss(net).item()
    net = net.to(dtype)
    found = loss(net)
    found.backward()
    # A sign that flips for want of digits changes the loss of straight-through estimation at once.
    tolerance = {torch.float64: 1e-5, torch.float32: 1e-6, torch.float16: 0.02, torch.bfloat16: 0.1}[dtype]
    assert abs(found.item() - expected) <= tolerance * (5 if surrogate == "ste" else 1)
    for parameter in net.parameters():
        assert parameter.grad is not None and parameter.grad.dtype == dtype and parameter.grad.isfinite().all()


def test_autocast_leaves_the_variance_its_digits() -> None:
    net = mlp(20, (24, 24), 3, seed=1)
    x = torch.randn(8, 20)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = net(x)
    assert torch.equal(found, net(x))


def test_layers_take_inputs_of_any_leading_shape() -> None:
    layer = BinaryLinear(5, 4, seed=1)
    x = torch.randn(2, 3, 5)
    assert torch.equal(layer(x), layer(x.reshape(6, 5)).reshape(2, 3, 4))
    assert layer(torch.randn(5)).shape == (4,)


def test_layers_stack_in_a_sequential() -> None:
    torch.manual_seed(1)
    net = torch.nn.Sequential(
        BinaryLinear(25, 32, seed=1), BinaryLinear(32, 32, source="neurons", seed=2), BinaryLinear(32, 4, source="neurons", tau=1.0, seed=3)
    )
    images, labels = problem()
    x = Preprocessing.fit(images)(images)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.03)
    polarise = Polarise(net, steps=100)
    for _ in range(100):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), labels).backward()
        optimizer.step()
        polarise.step()
    assert (net(x).argmax(1) == labels).float().mean() > 0.95


def test_gradients_reach_the_inputs() -> None:
    torch.manual_seed(1)
    net = mlp(6, (5, 5, 5), 3, carry=True, seed=1, dtype=torch.float64)
    x = torch.randn(4, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(net, (x,))


def test_without_pytorch_the_error_names_the_extra() -> None:
    program = "import sys; sys.modules['torch'] = None\nimport isinglass\ntry:\n    import isinglass.torch\nexcept ImportError as error:\n    print(error)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "isinglass[torch]" in result.stdout
