"""Initial means, drawn by the engine: equal seeds give the engine's numbers, bit for bit.

>>> from isinglass.torch.drawing import draw_layer
>>> means, bias = draw_layer(3, 2, "deterministic", "sign", "two-point", 0.25, None, None, seed=1)
>>> means.abs()
tensor([[0.5000, 0.5000, 0.5000],
        [0.5000, 0.5000, 0.5000]])

Settings that are impossible are refused by the engine, with its sentence:

>>> draw_layer(3, 2, "deterministic", "sign", "two-point", 1.2, None, None, seed=1)
Traceback (most recent call last):
ValueError: σ_m² = 1.2: the variance of means in [-1, 1] cannot exceed 1
"""

import torch
from torch import Tensor

from .. import _native


def new_seed() -> int:
    """A seed from PyTorch's generator, so that `torch.manual_seed` decides."""
    return int(torch.randint(2**63 - 1, ()).item())


def draw_layer(
    inputs: int,
    outputs: int,
    surrogate: str,
    neuron: str,
    init: str,
    sigma_m2: float | None,
    sigma_b2: float | None,
    tau: float | None,
    *,
    seed: int,
) -> tuple[Tensor, Tensor]:
    """Means (outputs × inputs) and biases of one layer: those of the first layer of a network with this seed."""
    config = {
        "inputs": inputs,
        "hidden": [outputs],
        "classes": 2,
        "surrogate": surrogate,
        "neuron": neuron,
        "init": init,
        "sigma_m2": sigma_m2,
        "sigma_b2": sigma_b2,
        "tau": 1.0 if tau is None else tau,
        "carry": False,
    }
    means, bias = _native.Network.draw(config, seed).layers[0]
    return torch.from_numpy(means.copy()), torch.from_numpy(bias.copy())
