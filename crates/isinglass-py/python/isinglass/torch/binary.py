"""The binary network behind a surrogate: weights `sign(M)`, neurons `sign(h)`, in PyTorch.

`h = (sum − shift)/√N + b`, where the sum of a hidden layer is one of ±1 (where fields are carried, of several layers), and that of the first layer one of bytes, whose offset and scale
are applied to the sum.
Sums are integers below 2²⁴, exact in float32 on every device, and fields are float64 (float32 on devices that have nothing else): the classes are those of the packed network.

>>> import torch, isinglass as ig
>>> images = torch.randint(256, (100, 784), dtype=torch.uint8)
>>> net = ig.torch.mlp(784, (64, 64), 10, preprocessing=ig.torch.Preprocessing.fit(images), seed=1)
>>> classes = net.binary()(images).argmax(1)
>>> bool((classes.numpy() == ig.torch.to_packed(net).predict(images.numpy())).all())
True
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from .activation import sign
from .preprocessing import Preprocessing
from .surrogate import activation_of, has_binary_neurons, has_binary_weights

if TYPE_CHECKING:
    from .linear import BinaryLinear


class BinaryMLP(nn.Module):
    """A network of ±1 weights; it has no parameters, and does not follow the surrogate it was made from."""

    def __init__(self, layers: "Sequence[BinaryLinear]", preprocessing: Preprocessing | None) -> None:
        super().__init__()
        last = layers[-1]
        if not has_binary_weights(last.surrogate):
            raise ValueError(f"there is no binary network behind surrogate {last.surrogate}: its weights are real numbers")
        self.preprocessing = preprocessing
        self.activation = None if has_binary_neurons(last.surrogate) else activation_of(last.neuron)
        self.carries = [layer.carried > 0 for layer in layers]
        self.tau = 1.0 if last.tau is None else last.tau
        for index, layer in enumerate(layers):
            self.register_buffer(f"weights_{index}", sign(layer.means.detach()).to(torch.float32))
            self.register_buffer(f"bias_{index}", layer.bias.detach().to(torch.float32))

    def _layer(self, index: int) -> tuple[Tensor, Tensor]:
        return self.get_buffer(f"weights_{index}"), self.get_buffer(f"bias_{index}")

    def _wide(self, x: Tensor) -> Tensor:
        """In float64, where the device has it."""
        return x if x.device.type == "mps" else x.double()

    @torch.no_grad()
    def forward(self, x: Tensor) -> Tensor:
        """The logits of raw values, examples × classes."""
        rows = x.flatten(1)
        field = sums = self._first_field(rows)
        for index in range(1, len(self.carries)):
            weights, bias = self._layer(index)
            neurons = sign(field) if self.activation is None else self.activation.value(self.activation.gain * field)
            own = neurons.to(torch.float32).mm(weights.t())
            sums = sums + own if self.carries[index] else own
            field = self._field(sums, bias, weights.shape[1])
        return self.tau * field

    def _first_field(self, rows: Tensor) -> Tensor:
        weights, bias = self._layer(0)
        rule = self.preprocessing
        if rule is not None and rule.gives_bytes(rows):
            sums = self._wide(rule.to_bytes(rows).mm(weights.t()))
            shift = self._wide(rule.offset) * self._wide(weights).sum(1)
            return (sums - shift) * self._wide(rule.scale) / math.sqrt(weights.shape[1]) + self._wide(bias)
        inputs = rows if rule is None else rule(rows)
        return self._field(inputs.to(torch.float32).mm(weights.t()), bias, weights.shape[1])

    def _field(self, sums: Tensor, bias: Tensor, inputs: int) -> Tensor:
        # Divided by √N, not multiplied by its inverse, so that a field of 0 stays exactly 0.
        return self._wide(sums) / math.sqrt(inputs) + self._wide(bias)
