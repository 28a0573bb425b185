"""A small grid of surrogate networks in PyTorch with two worker processes, the other side of `sweep.rs`.

Reads one JSON object from standard input: `cells` (a list of [depth, sigma_m2, seed]), `width`, `epochs`, `batch`, `lr`, `workers` and `data`, a directory
with train_images.npy, train_labels.npy, test_images.npy and test_labels.npy. Answers with {"seconds": ..., "accuracies": [...]}. The clock starts when
all workers have imported PyTorch and loaded the data.

One thread per process, the hand-written backward pass of a layer's two moments from isinglass-net's `torch_partner.py` and Adam(fused=True). Networks this narrow
gain up to a tenth from it over plain autograd. After training, the accuracy of the surrogate and of sign(M) on all training and test images.

On processors that are not Intel's, ISINGLASS_PYTHON="$PWD/scripts/python-unlocked-mkl" lets MKL use AVX-512 (an absolute path; see the script).
"""

import json
import math
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.multiprocessing as mp
import torch.nn.functional as F

sys.path.append(str(Path(__file__).resolve().parents[2] / "isinglass-net/benches/train_step"))
from torch_partner import FLOOR, HiddenMoments, InputMoments, scaled

STATE = {}


def prepare(job):
    torch.set_num_threads(1)
    load = lambda name: torch.from_numpy(np.load(f"{job['data']}/{name}.npy"))
    images = load("train_images").float()
    mean, sd = images.mean(), images.std()
    STATE.update(job=job, train=((images - mean) / sd, load("train_labels").long()))
    STATE["test"] = ((load("test_images").float() - mean) / sd, load("test_labels").long())


def surrogate(means, biases, x):
    """Logits of the deterministic surrogate with neurons tanh(h) and clipped means."""
    field, variance = InputMoments.apply(*scaled(x), means[0], biases[0])
    for m, b in zip(means[1:], biases[1:]):
        neurons = torch.tanh(field * variance.clamp_min(FLOOR).rsqrt())
        n = neurons.shape[1]
        field, variance = HiddenMoments.apply(neurons * n**-0.5, (1 - neurons * neurons) * (1 / n), m, b)
    return field * (1 + math.pi / 8 * variance.clamp_min(FLOOR)).rsqrt()


def sign(h):
    """+1 at 0. `torch.where(h >= 0, 1.0, -1.0)` takes twenty times as long."""
    return torch.ge(h, 0, out=torch.empty_like(h)).mul_(2).sub_(1)


def binary(means, biases, x):
    for layer, (m, b) in enumerate(zip(means, biases)):
        x = F.linear(x, sign(m)) / math.sqrt(x.shape[1]) + b
        if layer < len(means) - 1:
            x = sign(x)
    return x


def accuracy(network, means, biases, split):
    images, labels = STATE[split]
    with torch.no_grad():
        right = sum((network(means, biases, x).argmax(1) == y).sum().item() for x, y in zip(images.split(1000), labels.split(1000)))
    return right / len(labels)


def cell(place):
    depth, sigma_m2, seed = place
    job, (images, labels) = STATE["job"], STATE["train"]
    torch.manual_seed(seed)
    sizes = [images.shape[1]] + [job["width"]] * depth + [10]
    means = [(sigma_m2**0.5 * torch.randn(o, i).sign()).requires_grad_() for i, o in zip(sizes, sizes[1:])]
    biases = [torch.zeros(o, requires_grad=True) for o in sizes[1:]]
    adam = torch.optim.Adam(means + biases, lr=job["lr"], fused=True)
    for _ in range(job["epochs"]):
        for batch in torch.randperm(len(images)).split(job["batch"]):
            loss = F.cross_entropy(surrogate(means, biases, images[batch]), labels[batch])
            adam.zero_grad()
            loss.backward()
            adam.step()
            with torch.no_grad():
                torch._foreach_clamp_min_(means, -1.0)
                torch._foreach_clamp_max_(means, 1.0)
    return [accuracy(network, means, biases, split) for network in (surrogate, binary) for split in ("train", "test")]


def ready(_):
    time.sleep(0.2)


if __name__ == "__main__":
    job = json.load(sys.stdin)
    with mp.get_context("spawn").Pool(job["workers"], prepare, (job,)) as pool:
        pool.map(ready, range(job["workers"]), chunksize=1)
        start = time.perf_counter()
        # The longest first, one at a time.
        cells = sorted(job["cells"], key=lambda place: -place[0])
        results = pool.map(cell, cells, chunksize=1)
        seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "accuracies": [result[0] for result in results]}))
