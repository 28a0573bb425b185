"""Polarisation: a scheduler that drives the means to ±1, so that the binary network comes close to its surrogate.

Means are `tanh(βθ)` or `clip(βθ)`.
For the first 60 % of a run `β = 1`; then it grows exponentially, up to 30 in the last step:

`β(t) = 30^((t − t₀)/(T − 1 − t₀))`, `t₀ = 0.6 T`,

as in `isinglass train`.
After the last step the means are exactly ±1.

>>> import torch, isinglass as ig
>>> net = ig.torch.mlp(4, (33,), 2, seed=1)
>>> optimizer = torch.optim.Adam(net.parameters(), lr=0.03)
>>> polarise = ig.torch.Polarise(net, steps=100)
>>> x = torch.randn(64, 4)
>>> for step in range(100):
...     loss = torch.nn.functional.cross_entropy(net(x), (x[:, 0] > x[:, 1]).long())
...     optimizer.zero_grad()
...     loss.backward()
...     optimizer.step()
...     polarise.step()  # after the optimiser's
>>> net.layers[0].means.abs().unique()
tensor([1.])
"""

import math
from typing import Any

from torch import nn

from .linear import BinaryLinear
from .surrogate import has_binary_weights


class Polarise:
    """Raises `β` of every `BinaryLinear` in a network.

    Arguments:
        net: an `MLP`, or any module with `BinaryLinear` layers.
        steps: number of optimiser steps in the whole run.
        beta: `β` of the last step, from 1 to 10000; with 1 the means are not polarised before the end.
        anneal_from: the fraction of the run before `β` grows.
        finish: whether the last step sets every mean to ±1.
    """

    def __init__(self, net: nn.Module, steps: int, *, beta: float = 30.0, anneal_from: float = 0.6, finish: bool = True) -> None:
        if steps < 1:
            raise ValueError(f"steps = {steps}: a run has at least one step")
        if not 1 <= beta <= 1e4:
            raise ValueError(f"beta = {beta}: must be from 1 to 10000")
        if not 0 <= anneal_from < 1:
            raise ValueError(f"anneal_from = {anneal_from}: must be a fraction of the run, in [0, 1)")
        self.layers = [layer for layer in net.modules() if isinstance(layer, BinaryLinear)]
        if not self.layers:
            raise ValueError("the network has no BinaryLinear layers: there are no means to polarise")
        for layer in self.layers:
            if not has_binary_weights(layer.surrogate):
                raise ValueError(f"there is no binary network behind surrogate {layer.surrogate}; train it without Polarise")
        self.steps, self.last_beta, self.anneal_from, self.finishes = steps, beta, anneal_from, finish
        self.done = 0
        self._set(self.beta_at(0))

    def beta_at(self, step: int) -> float:
        """The `β` of a step, counted from 0."""
        start = self.anneal_from * self.steps
        if step < start:
            return 1.0
        left = max(self.steps - 1.0 - start, 1.0)
        return math.pow(self.last_beta, min((step - start) / left, 1.0))

    @property
    def beta(self) -> float:
        """The `β` of the next step; `∞` after the last, if it set the means to ±1."""
        return self.layers[0].beta

    def step(self) -> None:
        """Ends a step of the optimiser: clips `θ` where means are clipped, and raises `β`."""
        if self.done >= self.steps:
            raise ValueError(f"step {self.done + 1} of {self.steps}: the run is over; pass the number of all optimiser steps to Polarise")
        self.done += 1
        for layer in self.layers:
            layer.clip()
        if self.done < self.steps:
            self._set(self.beta_at(self.done))
        elif self.finishes:
            self.finish()

    def finish(self) -> None:
        """Sets every mean to ±1, its sign: `β = ∞`. Parameters stay as they are, so a smaller `β` undoes it."""
        self._set(math.inf)

    def _set(self, beta: float) -> None:
        for layer in self.layers:
            layer.beta = beta

    def state_dict(self) -> dict[str, Any]:
        """All that a run continues with, besides the network's own `state_dict`."""
        return {
            "steps": self.steps,
            "beta": self.last_beta,
            "anneal_from": self.anneal_from,
            "finish": self.finishes,
            "done": self.done,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continues where `state_dict` was taken, and sets `β` accordingly."""
        self.steps, self.last_beta, self.anneal_from = state["steps"], state["beta"], state["anneal_from"]
        self.finishes, self.done = state["finish"], state["done"]
        is_over = self.done >= self.steps
        self._set(math.inf if is_over and self.finishes else self.beta_at(min(self.done, self.steps - 1)))
