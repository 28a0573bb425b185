"""What the optimiser moves, and how the means follow from it.

| parametrisation | means | range of `θ` | gradient |
|---|---|---|---|
| `tanh` | `M = tanh(βθ)` | all numbers | `∂θ = β(1 − M²) ∂M` |
| `clip` | `M = clip(βθ)` | `[−1, 1]`, clipped after every step | `∂θ = β ∂M`, beyond the clip too |
| `sign` | `M = sign(θ)`: straight-through estimation | `[−1, 1]`, clipped after every step | `∂θ = ∂M` |
| `free` | `M = θ`: real weights | all numbers | `∂θ = ∂M` |

`β` grows during a run, so that the means polarise; at `β = ∞` they are `sign(θ)`, with `sign(0) = +1`.

>>> import torch
>>> from isinglass.torch.parametrisation import Parametrisation
>>> theta = torch.tensor([0.5, -0.25])
>>> Parametrisation.CLIP.means(theta, beta=2.0)
tensor([ 1.0000, -0.5000])
>>> Parametrisation.TANH.means(theta, beta=float("inf"))
tensor([ 1., -1.])
"""

import math
from enum import Enum

import torch
from torch import Tensor

from .activation import sech2, sign

LARGEST = 1 - 1e-6
"""The `θ` of a mean of ±1 would be infinite; means are clamped to this before `atanh`, as in the engine."""


class Parametrisation(Enum):
    """How means follow from `θ`."""

    TANH = "tanh"
    CLIP = "clip"
    SIGN = "sign"
    FREE = "free"

    def means(self, theta: Tensor, beta: float) -> Tensor:
        """`M`."""
        if self is Parametrisation.FREE:
            return theta
        if self is Parametrisation.SIGN or math.isinf(beta):
            return sign(theta)
        return torch.tanh(theta * beta) if self is Parametrisation.TANH else (theta * beta).clamp(-1, 1)

    def deficit(self, theta: Tensor, means: Tensor, beta: float) -> Tensor:
        """`1 − M²`, without the cancellation of that difference."""
        if self is Parametrisation.TANH and not math.isinf(beta):
            return sech2(theta * beta)
        return (1 - means) * (1 + means)

    def slope(self, beta: float) -> float:
        """The factor of `∂M` in `∂θ`; that of `tanh` is multiplied by `1 − M²` besides."""
        if self in (Parametrisation.SIGN, Parametrisation.FREE):
            return 1.0
        return 0.0 if math.isinf(beta) else beta

    def theta(self, means: Tensor) -> Tensor:
        """The `θ` of means at `β = 1`."""
        if self is not Parametrisation.TANH:
            return means.clone()
        # In 64 bits, as in the engine; on the CPU, since not every device has them.
        return means.detach().cpu().double().clamp(-LARGEST, LARGEST).atanh().to(means)

    def is_clipped(self) -> bool:
        """Whether `θ` is kept in `[−1, 1]`."""
        return self in (Parametrisation.CLIP, Parametrisation.SIGN)
