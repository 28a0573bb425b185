"""A whole surrogate network, `mlp(…)`: hidden layers and an output layer of `BinaryLinear`.

>>> import torch, isinglass as ig
>>> net = ig.torch.mlp(784, (512, 512), 10, surrogate="deterministic", seed=1)
>>> net.shape
'784-512×2-10'
>>> net(torch.randn(32, 784)).shape  # logits
torch.Size([32, 10])

The theory chooses the initialisation for the depth, unless you do, and the engine draws it; `carry=True` carries fields between hidden layers of equal widths.

>>> deep = ig.torch.mlp(784, (256,) * 20, 10, carry=True, seed=1)
>>> deep.initialisation["distribution"], [layer.carried for layer in deep.layers][:5]
('uniform', [0, 0, 1, 2, 3])

A network takes inputs of mean 0 and variance 1.
With `preprocessing` it takes raw values, bytes or real numbers, as the packed network will.

>>> images = torch.randint(256, (100, 784), dtype=torch.uint8)
>>> net = ig.torch.mlp(784, (64,), 10, preprocessing=ig.torch.Preprocessing.fit(images), seed=1)
>>> net(images).shape
torch.Size([100, 10])
"""

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from .. import _native
from .binary import BinaryMLP
from .drawing import new_seed
from .linear import BinaryLinear, Signal
from .preprocessing import Preprocessing
from .surrogate import DEFAULT_NEURONS, Means, Source, Surrogate


class MLP(nn.Module):
    """A surrogate network; `mlp` draws one, `from_network` and `from_checkpoint` take one over."""

    def __init__(
        self,
        network: _native.Network,
        *,
        means: Means = "clip",
        variance_gradient: bool = True,
        preprocessing: Preprocessing | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        config = network.config
        self.config: dict[str, Any] = config
        self.shape: str = network.shape
        self.initialisation: dict[str, Any] | None = network.initialisation
        self.class_names: list[str] | None = network.class_names
        self.preprocessing = preprocessing
        layers, carried = network.layers, network.carried
        last = len(layers) - 1
        self.layers: nn.ModuleList = nn.ModuleList(
            BinaryLinear._of(
                torch.from_numpy(given.copy()),
                torch.from_numpy(bias.copy()),
                surrogate=config["surrogate"],
                neuron=config["neuron"],
                source=Source.DATA if index == 0 else Source.NEURONS,
                carried=carried[index],
                tau=config["tau"] if index == last else None,
                parametrisation=means,
                variance_gradient=variance_gradient,
                dtype=dtype,
            )
            for index, (given, bias) in enumerate(layers)
        )
        self.to(device)

    def _linears(self) -> list[BinaryLinear]:
        return [layer for layer in self.layers if isinstance(layer, BinaryLinear)]

    def inputs(self, x: Tensor) -> Tensor:
        """Raw values as the first layer sees them: examples × inputs."""
        rows = x.flatten(1) if x.dim() > 1 else x
        expected = self.config["inputs"]
        if rows.dim() != 2 or rows.shape[1] != expected:
            raise ValueError(f"inputs of shape {tuple(x.shape)}: the network takes rows of {expected} values")
        if self.preprocessing is not None:
            rows = self.preprocessing(rows)
        elif rows.dtype == torch.uint8:
            raise ValueError(
                "inputs of dtype uint8, and no preprocessing: pass preprocessing=Preprocessing.fit(images) to the network, or standardise the inputs"
            )
        return rows.to(self._linears()[0].theta.dtype)

    def forward(self, x: Tensor, *, noise: Sequence[Tensor] | None = None, generator: torch.Generator | None = None) -> Tensor:
        """The logits, examples × classes.

        `noise` has the `ε` of sampled surrogates, examples × units for every layer; by default they are drawn, from `generator` if given.
        """
        layers = self._linears()
        if noise is not None and len(noise) != len(layers):
            raise ValueError(f"noise for {len(noise)} layers: the network has {len(layers)}")
        signal = Signal(self.inputs(x))
        for index, layer in enumerate(layers):
            signal = layer.respond(signal, noise=None if noise is None else noise[index], generator=generator)
        return signal.x

    def clip(self) -> None:
        """Keeps the parameters of clipped means in `[−1, 1]`. Call it after every step of the optimiser; `Polarise.step` does."""
        for layer in self._linears():
            layer.clip()

    def binary(self) -> BinaryMLP:
        """The binary network behind this one, as it is now: weights `sign(M)` and sign neurons."""
        return BinaryMLP(self._linears(), self.preprocessing)

    def extra_repr(self) -> str:
        """The sizes in short form."""
        return self.shape


def mlp(
    inputs: int,
    hidden: Sequence[int],
    classes: int,
    *,
    surrogate: Surrogate = "deterministic",
    neuron: str | None = None,
    init: str = "auto",
    sigma_m2: float | None = None,
    sigma_b2: float | None = None,
    tau: float = 1.0,
    carry: bool | Literal["auto"] = False,
    means: Means = "tanh",
    variance_gradient: bool = True,
    preprocessing: Preprocessing | None = None,
    seed: int | None = None,
    device: torch.device | str | None = None,
    dtype: torch.dtype | None = None,
) -> MLP:
    """Draws a network, as `isinglass train` does with the same settings.

    Arguments:
        inputs, hidden, classes: the layers' sizes.
        surrogate: `deterministic`, `lrt-binary`, `lrt-continuous`, `continuous` or `ste`.
        neuron: `sign`, `probit:α`, `logistic:α`, `erf:a` or `tanh:k`; the surrogate's own by default.
        init: `auto` and `critical` ask the theory; `two-point`, `hadamard`, `aligned` (or `aligned:K`), `clipped-gaussian` and `uniform` take `sigma_m2`; `glorot`, `he`.
        sigma_m2, sigma_b2: variances of the means and of the biases.
        tau: `τ`, the scale of the logits.
        carry: whether fields are carried between hidden layers of equal widths; `"auto"` asks the theory.
        means: how the means follow from the parameters `theta`, `M = tanh(βθ)` or `clip(βθ)`.
        variance_gradient: whether gradients flow through `Σ`.
        preprocessing: how raw values become inputs; by default the network takes inputs as they are.
        seed: of the means and biases; taken from PyTorch's generator by default.
    """
    config = {
        "inputs": inputs,
        "hidden": list(hidden),
        "classes": classes,
        "surrogate": surrogate,
        "neuron": DEFAULT_NEURONS.get(surrogate, "sign") if neuron is None else neuron,
        "init": init,
        "sigma_m2": sigma_m2,
        "sigma_b2": sigma_b2,
        "tau": tau,
        "carry": carry,
    }
    network = _native.Network.draw(config, new_seed() if seed is None else seed)
    return MLP(
        network, means=means, variance_gradient=variance_gradient, preprocessing=preprocessing, device=device, dtype=dtype
    )
