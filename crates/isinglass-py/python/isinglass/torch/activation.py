"""Neurons' responses to their fields: `φ(h) = f(z)` with `z = gain·h`.

| activation | gain | `f(z)` | `1 − f²` | `f'(z)` |
|---|---|---|---|---|
| `Erf(a)` | `a` | `erf(z)` | `erfc(z) erfc(−z)` | `2/√π · e^(−z²)` |
| `Tanh(k)` | `k` | `tanh(z)` | `sech²(z)` | `sech²(z)` |
| `Step(w)` | 1 | `sign(z)`, `sign(0) = +1` | 0 | that of `z/w` on `[−w, w]`: straight-through |
| `Linear(τ)` | `τ` | `z` | | 1 |

`1 − f²` is never computed as that difference: once neurons saturate, the variance of the next layer's field consists of it.

>>> import torch
>>> from isinglass.torch.activation import Erf
>>> x, rest = Erf(1.0).respond(torch.tensor([4.0]))
>>> x.item(), f"{rest.item():.3e}"
(1.0, '3.083e-08')
"""

import math
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import torch
from torch import Tensor


def sign(x: Tensor) -> Tensor:
    """`sign(x)` with `sign(0) = +1`, of the same dtype."""
    return (x < 0).to(x.dtype).mul_(-2).add_(1)


def sech2(z: Tensor) -> Tensor:
    """`1/cosh²(z) = 1 − tanh²(z)`, as `4σ(1 − σ)` with the logistic function `σ(−2|z|) ≤ ½`: the fastest of the accurate forms."""
    s = z.abs().mul_(-2).sigmoid_()
    return s.addcmul_(s, s, value=-1).mul_(4)


@dataclass(frozen=True)
class Erf:
    """`erf(ah)`."""

    gain: float

    def value(self, z: Tensor) -> Tensor:
        """`f(z)`."""
        return torch.erf(z)

    def respond(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """`f(z)` and `1 − f²`."""
        tail = z.abs().erfc_()
        return torch.erf(z), tail.addcmul(tail, tail, value=-0.5).mul_(2)

    def slope(self, z: Tensor) -> Tensor:
        """`f'(z)`."""
        # The factor is part of the exponent, which saves a pass.
        logarithm = torch.full((), math.log(2 / math.sqrt(math.pi)), dtype=z.dtype, device=z.device)
        return torch.addcmul(logarithm, z, z, value=-1).exp_()


@dataclass(frozen=True)
class Tanh:
    """`tanh(kh)`."""

    gain: float

    def value(self, z: Tensor) -> Tensor:
        """`f(z)`."""
        return torch.tanh(z)

    def respond(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """`f(z)` and `1 − f²`."""
        return torch.tanh(z), sech2(z)

    def slope(self, z: Tensor) -> Tensor:
        """`f'(z)`."""
        return sech2(z)


@dataclass(frozen=True)
class Step:
    """`sign(h)`, differentiated as `h/w` on `[−w, w]`."""

    width: float
    gain: ClassVar[float] = 1.0

    def value(self, z: Tensor) -> Tensor:
        """`f(z)`."""
        return sign(z)

    def respond(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """`f(z)` and `1 − f²`."""
        return sign(z), torch.zeros_like(z)

    def slope(self, z: Tensor) -> Tensor:
        """`1/w` on the window, 0 outside."""
        return (z.abs() <= self.width).to(z.dtype).div_(self.width)


@dataclass(frozen=True)
class Linear:
    """`τh`: an output."""

    gain: float

    def value(self, z: Tensor) -> Tensor:
        """`f(z)`."""
        return z

    def respond(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """`f(z)` and, although no layer follows that needs it, `1 − f²`."""
        return z, 1 - z * z

    def slope(self, z: Tensor) -> Tensor:
        """1."""
        return torch.ones_like(z)


Activation: TypeAlias = Erf | Tanh | Step | Linear
