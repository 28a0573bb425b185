"""Networks to and from the engine: checkpoints, packed bits, and networks in memory.

| | to PyTorch | from PyTorch |
|---|---|---|
| checkpoint | `from_checkpoint(path)` | `to_checkpoint(net, path)` |
| network in memory | `from_network(network)` | `to_network(net)` |
| packed bits | | `to_packed(net)`, of `sign(M)` |

Means and biases pass in float32, without a change where they are float32 already: with `means="clip"` the parameters are the means themselves.
With `means="tanh"` the parameters are `atanh(M)`, and the means those of the file up to rounding; a network whose means are all ±1 keeps them.

>>> import os, tempfile, torch, isinglass as ig
>>> images = torch.randint(256, (50, 9), dtype=torch.uint8)
>>> net = ig.torch.mlp(9, (16, 16), 3, means="clip", preprocessing=ig.torch.Preprocessing.fit(images), seed=1)
>>> path = os.path.join(tempfile.mkdtemp(), "net.safetensors")
>>> ig.torch.to_checkpoint(net, path)
>>> again = ig.torch.from_checkpoint(path)
>>> all(torch.equal(a.means, b.means) for a, b in zip(net.layers, again.layers))
True
>>> torch.equal(net(images), again(images))
True
>>> ig.torch.to_packed(net).shape
'9-16-16-3'
"""

import math
from os import PathLike

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .. import _native
from .._network import Network
from .._packed import PackedModel
from .network import MLP
from .preprocessing import Preprocessing
from .surrogate import Means


def from_network(
    network: Network,
    *,
    means: Means = "clip",
    variance_gradient: bool = True,
    device: torch.device | str | None = None,
    dtype: torch.dtype | None = None,
) -> MLP:
    """A network of the engine as a module that takes the same raw values."""
    native = network._native
    rule = Preprocessing.from_dict(native.input)
    is_unchanged = rule.centres is None and not rule.of_bytes and rule.offset == 0 and rule.scale == 1
    net = MLP(
        native,
        means=means,
        variance_gradient=variance_gradient,
        preprocessing=None if is_unchanged else rule,
        device=device,
        dtype=dtype,
    )
    for layer, (given, _) in zip(net._linears(), native.layers, strict=True):
        if layer.parametrisation.value == "tanh" and (np.abs(given) == 1).all():
            layer.beta = math.inf
    return net


def to_network(net: MLP, *, preprocessing: Preprocessing | None = None) -> Network:
    """The module as a network of the engine. `preprocessing`, by default the module's own, is how raw values become inputs."""
    _check(net)
    rule = net.preprocessing if preprocessing is None else preprocessing
    layers = [(_array(layer.means), _array(layer.bias)) for layer in net._linears()]
    return Network(_native.Network.from_layers(net.config, layers, None if rule is None else rule.to_dict(), net.class_names))


def from_checkpoint(
    path: str | PathLike[str],
    *,
    means: Means = "clip",
    variance_gradient: bool = True,
    device: torch.device | str | None = None,
    dtype: torch.dtype | None = None,
) -> MLP:
    """Reads the network of a checkpoint that `isinglass train` or `to_checkpoint` wrote."""
    return from_network(Network.load(path), means=means, variance_gradient=variance_gradient, device=device, dtype=dtype)


def to_checkpoint(net: MLP, path: str | PathLike[str], *, preprocessing: Preprocessing | None = None) -> None:
    """Writes a checkpoint that `isinglass evaluate`, `inspect` and `pack` read."""
    to_network(net, preprocessing=preprocessing).save(path)


def to_packed(net: MLP, *, preprocessing: Preprocessing | None = None, check: Tensor | None = None) -> PackedModel:
    """Packs the binary network `sign(M)`, one bit per weight.

    `preprocessing`, by default the module's own, is how raw values become inputs; the packed network takes raw values.
    The bits are compared with the network in floats, on random inputs and on the raw values `check`.
    """
    _check(net)
    if net.preprocessing is None and preprocessing is None:
        raise ValueError(
            "the network has no preprocessing, and a packed network takes bytes: pass preprocessing=Preprocessing(offset, scale), "
            "with inputs (byte − offset)·scale as in training, or Preprocessing.normalising(mean, std)"
        )
    values = None if check is None else check.detach().flatten(1).cpu().numpy()
    return to_network(net, preprocessing=preprocessing).pack(values)


def _check(net: object) -> None:
    if not isinstance(net, MLP):
        raise TypeError(f"{type(net).__name__}: only what mlp, from_network or from_checkpoint made can be taken over by the engine")


def _array(values: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = values.detach().to(device="cpu", dtype=torch.float32).contiguous().numpy()
    return array
