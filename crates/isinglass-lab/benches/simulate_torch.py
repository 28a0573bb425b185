"""Random networks of the paper's Figure 1 in PyTorch, the other side of `simulate.rs`.

Written as one would write it: all realisations of a setting in turn, a layer's means drawn as a matrix of signs, both signals as two columns of one product; f32, no gradients. Where PyTorch
offers several ways of drawing signs the fastest on a CPU is used. Speaks JSON lines:

    {"width": 1000, "realisations": 50, "depth": 30, "sigma_m2": 0.5, "sigma_b2": 0.001, "map_points": 11, "q_star": 0.002, "threads": 2, "seed": 1}
        -> {"seconds": 1.0, "q": 0.0012, "c": 0.99}       q_aa and c of the last layer, averaged
    {"quit": true}

`pip install torch` (see crates/isinglass-net/benches/train_step/torch_partner.py for the least that imports).
"""

import json
import math
import sys
import time

import torch


def layer(x, sigma_m2, sigma_b2):
    n = x.shape[0]
    # The fastest way to signs (8.2 ms for N = 1000 on two cores); rand takes 9.4, randint 12 or more, bernoulli_ 31.
    signs = torch.randn(n, n).sign_()
    mean = math.sqrt(sigma_m2 / n) * (signs @ x) + math.sqrt(sigma_b2) * torch.randn(n, 1)
    spread = 1 - sigma_m2 * (x * x).mean(0)
    return mean / spread.sqrt()


def start(n, q, c):
    z = torch.randn(n, 2)
    return math.sqrt(q) * torch.stack([z[:, 0], c * z[:, 0] + math.sqrt(1 - c * c) * z[:, 1]], 1)


def overlaps(h):
    q = h.T @ h / h.shape[0]
    return torch.stack([q[0, 0], q[1, 1], q[0, 1], q[0, 1] / (q[0, 0] * q[1, 1]).sqrt()])


def simulate(width, realisations, depth, sigma_m2, sigma_b2, map_points, q_star):
    phi = lambda h: torch.erf(h / math.sqrt(2))
    runs = torch.empty(realisations, depth + 1, 4)
    maps = torch.empty(realisations, map_points, 4)
    for r in range(realisations):
        h = start(width, 1.0, 0.5)
        runs[r, 0] = overlaps(h)
        for l in range(depth):
            h = layer(phi(h), sigma_m2, sigma_b2)
            runs[r, l + 1] = overlaps(h)
        for p in range(map_points):
            c_in = p / max(map_points - 1, 1)
            maps[r, p] = overlaps(layer(phi(start(width, q_star, c_in)), sigma_m2, sigma_b2))
    return runs.mean(0), runs.std(0), maps.mean(0), maps.std(0)


def main():
    for line in sys.stdin:
        case = json.loads(line)
        if case.get("quit"):
            return
        torch.set_num_threads(case.pop("threads"))
        torch.manual_seed(case.pop("seed"))
        begin = time.perf_counter()
        with torch.no_grad():
            mean, *_ = simulate(**case)
        seconds = time.perf_counter() - begin
        print(json.dumps({"seconds": seconds, "q": mean[-1, 0].item(), "c": mean[-1, 3].item()}), flush=True)


if __name__ == "__main__":
    main()
