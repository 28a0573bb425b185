"""Binary networks in PyTorch: the engine's surrogates as modules, on CUDA, MPS and CPU.

| | |
|---|---|
| `BinaryLinear` | one layer of a surrogate, with gradients through `Σ` |
| `mlp`, `MLP` | a whole network, initialised by the theory |
| `Polarise` | a scheduler that drives the means to ±1 |
| `BinaryMLP` | the network `sign(M)`: `net.binary()` |
| `Preprocessing` | how raw values become inputs |
| `to_packed` | one bit per weight |
| `from_checkpoint`, `to_checkpoint`, `from_network`, `to_network` | to and from the engine |

A run with PyTorch's own loop and optimiser, deployed as bits:

>>> import torch, isinglass as ig
>>> images = torch.randint(256, (512, 16), dtype=torch.uint8)
>>> labels = (images[:, :8].float().mean(1) > images[:, 8:].float().mean(1)).long()
>>> net = ig.torch.mlp(16, (64, 64), 2, preprocessing=ig.torch.Preprocessing.fit(images), seed=1)
>>> optimizer = torch.optim.Adam(net.parameters(), lr=0.03)
>>> polarise = ig.torch.Polarise(net, steps=200)
>>> for step in range(200):
...     loss = torch.nn.functional.cross_entropy(net(images), labels)
...     optimizer.zero_grad()
...     loss.backward()
...     optimizer.step()
...     polarise.step()
>>> model = ig.torch.to_packed(net)
>>> classes = torch.from_numpy(model.predict(images.numpy()))
>>> torch.equal(classes, net.binary()(images).argmax(1)), bool((classes == labels).float().mean() > 0.9)
(True, True)
"""

from .._extras import require

require("torch")

from .binary import BinaryMLP  # noqa: E402
from .exchange import from_checkpoint, from_network, to_checkpoint, to_network, to_packed  # noqa: E402
from .linear import BinaryLinear, Signal  # noqa: E402
from .network import MLP, mlp  # noqa: E402
from .polarise import Polarise  # noqa: E402
from .preprocessing import Preprocessing  # noqa: E402

__all__ = [
    "MLP",
    "BinaryLinear",
    "BinaryMLP",
    "Polarise",
    "Preprocessing",
    "Signal",
    "from_checkpoint",
    "from_network",
    "mlp",
    "to_checkpoint",
    "to_network",
    "to_packed",
]
