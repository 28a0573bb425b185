"""Training steps of a surrogate network in PyTorch, the other side of `train_step.rs`.

Speaks JSON lines, so that the benchmark can interleave its own steps with these:

    {"setup": {"width": 256, "depth": 10, "batch": 64, "inputs": 784, "classes": 10, "threads": 2,
               "mode": "eager" | "compile", "surrogate": "deterministic" | "lrt-binary", "means": "clip" | "tanh",
               "seed": 1}}
                        -> {"ready": true, "torch": "2.15.0", "parameters": 795658}
    {"steps": 50}       -> {"seconds": 0.3, "loss": 2.1, "peak_rss_mb": 700.0}
    {"check": "a.safetensors", "gradients": "b.safetensors", "surrogate": "deterministic", "means": "clip", "mode": "eager"}
                        -> {"loss": 2.1}
    {"quit": true}

With "means": "tanh" the parameters are theta, and the means tanh(theta); with "clip" they are the means, clipped after every step.

`check` reads `means.0`, `biases.0`, `means.1`, ..., `inputs` (batch x inputs, as they are), `labels` (any integers) and, for lrt-binary,
`noise.0`, ... (batch x outputs) and writes the loss's gradients under the names of the means and biases. With "means": "tanh", `means.0`, ...
hold theta. It computes in the type of the tensors: F64 in, F64 out.

Both modes share one hand-written backward pass of a layer's two moments (plain autograd is 14-22 % slower in eager mode), Adam(fused=True)
(faster than foreach) and f32 throughout. "max-autotune-no-cudagraphs", a compiled optimiser step and the C++ wrapper gained nothing on a CPU.

PyPI's Linux wheel links against CUDA. The least that imports (no Triton, no GPU needed; torch.compile needs g++):

    pip install --no-deps torch==2.15.0 nvidia-cudnn-cu13==9.26.0.51 nvidia-cusparselt-cu13==0.8.1 nvidia-nccl-cu13==2.30.7 \
        nvidia-nvshmem-cu13==3.7.2
    pip install filelock typing_extensions sympy networkx jinja2 fsspec numpy 'setuptools>=77.0.3' \
        'cuda-toolkit[cublas,cudart,cufft,cufile,cupti,cusparse,nvjitlink,nvrtc]==13.2.2'

On processors that are not Intel's, ISINGLASS_PYTHON="$PWD/scripts/python-unlocked-mkl" lets MKL use AVX-512 (an absolute path; see the script).
"""

import json
import math
import resource
import sys
import time

import torch
import torch._inductor.config
import torch.nn.functional as F

FLOOR = 1e-6  # of the field's variance
BATCHES = 4  # prepared beforehand and used in turn
DTYPES = {"F32": torch.float32, "F64": torch.float64, "U8": torch.uint8, "I32": torch.int32, "I64": torch.int64}

# In compiled code too, noise comes from the vectorised generator of eager mode; the compiler's own is slower on a CPU.
torch._inductor.config.fallback_random = True


class InputMoments(torch.autograd.Function):
    """Mean and variance of the first layer's field; `x` holds inputs / sqrt(N), `x2` its squares."""

    @staticmethod
    def forward(ctx, x, x2, m, b):
        ctx.save_for_backward(x, x2, m)
        return F.linear(x, m, b), F.linear(x2, 1 - m * m)

    @staticmethod
    def backward(ctx, p, q):
        x, x2, m = ctx.saved_tensors
        return None, None, p.t().mm(x).addcmul_(m, q.t().mm(x2), value=-2), p.sum(0)


class HiddenMoments(torch.autograd.Function):
    """Mean and variance of a later layer's field; `x` holds neurons' means / sqrt(N), `v` their variances / N."""

    @staticmethod
    def forward(ctx, x, v, m, b):
        m2 = m * m
        ctx.save_for_backward(x, v, m, m2)
        return F.linear(x, m, b), F.linear(v, m2, (1 - m2).mean(1))

    @staticmethod
    def backward(ctx, p, q):
        x, v, m, m2 = ctx.saved_tensors
        d_m2 = q.t().mm(v - 1 / m.shape[1])
        return p.mm(m), q.mm(m2), p.t().mm(x).addcmul_(m, d_m2, value=2), p.sum(0)


def scaled(inputs):
    """What the first layer needs of its inputs, computed once per batch."""
    x = inputs * inputs.shape[1] ** -0.5
    return x, x * x


def loss_of(surrogate, means, biases, x, x2, labels, noise=None):
    """Mean cross entropy; `noise`, one tensor per layer, is drawn if the surrogate needs it and none is given."""
    field, variance = InputMoments.apply(x, x2, means[0], biases[0])
    for layer in range(1, len(means) + 1):
        variance = variance.clamp_min(FLOOR)
        if surrogate == "lrt-binary":
            epsilon = torch.randn_like(field) if noise is None else noise[layer - 1]
            field = field + variance.sqrt() * epsilon
        if layer == len(means):
            break
        neurons = torch.tanh(field) if surrogate == "lrt-binary" else torch.erf(field * variance.rsqrt() * math.sqrt(0.5))
        n = neurons.shape[1]
        field, variance = HiddenMoments.apply(neurons * n**-0.5, (1 - neurons * neurons) * (1 / n), means[layer], biases[layer])
    if surrogate == "deterministic":
        field = field * (1 + math.pi / 8 * variance).rsqrt()
    return F.cross_entropy(field, labels)


def loss_of_theta(surrogate, thetas, biases, x, x2, labels, noise=None):
    """The same with means tanh(theta)."""
    return loss_of(surrogate, [torch.tanh(theta) for theta in thetas], biases, x, x2, labels, noise)


class Trainer:
    def __init__(self, width, depth, batch, inputs, classes, threads, mode, surrogate, means, seed):
        torch.set_num_threads(threads)
        torch.manual_seed(seed)
        sizes = [inputs] + [width] * depth + [classes]
        # Means near +-1, where signals and gradients survive the depth.
        self.means = [torch.empty(o, i).uniform_(0.9, 1).mul_(torch.randn(o, i).sign_()) for i, o in zip(sizes, sizes[1:])]
        self.clips = means == "clip"
        if not self.clips:
            self.means = [torch.atanh(m * (1 - 1e-6)) for m in self.means]
        self.means = [m.requires_grad_() for m in self.means]
        self.biases = [torch.empty(o).normal_(0, 0.1).requires_grad_() for o in sizes[1:]]
        self.batches = [(*scaled(torch.randn(batch, inputs)), torch.randint(classes, (batch,))) for _ in range(BATCHES)]
        self.parameters = self.means + self.biases
        self.adam = torch.optim.Adam(self.parameters, lr=2e-4, fused=True)
        self.surrogate = surrogate
        self.loss_of = loss_function(mode, means)
        self.done = 0
        self.steps(3)

    def steps(self, count):
        """Seconds taken by `count` steps, and the last loss."""
        start = time.perf_counter()
        for _ in range(count):
            loss = self.loss_of(self.surrogate, self.means, self.biases, *self.batches[self.done % BATCHES])
            loss.backward()
            self.adam.step()
            if self.clips:
                with torch.no_grad():
                    torch._foreach_clamp_min_(self.means, -1.0)
                    torch._foreach_clamp_max_(self.means, 1.0)
            self.adam.zero_grad(set_to_none=True)
            self.done += 1
        return time.perf_counter() - start, loss.item()


def loss_function(mode, means):
    torch._dynamo.reset()
    function = loss_of if means == "clip" else loss_of_theta
    return torch.compile(function, fullgraph=True, dynamic=False) if mode == "compile" else function


def read_safetensors(path):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    return {
        name: torch.frombuffer(data[start + t["data_offsets"][0] : start + t["data_offsets"][1]], dtype=DTYPES[t["dtype"]]).view(t["shape"])
        for name, t in header.items()
    }


def write_safetensors(path, tensors):
    header, payload = {}, bytearray()
    for name, tensor in tensors.items():
        begin = len(payload)
        payload += bytes(tensor.contiguous().untyped_storage())
        dtype = next(key for key, value in DTYPES.items() if value == tensor.dtype)
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [begin, len(payload)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + payload)


def check(path, gradients, surrogate, means, mode):
    """The loss of a given network on a given batch; its gradients go to a file."""
    given = read_safetensors(path)
    layers = sum(name.startswith("means.") for name in given)
    names = [f"{kind}.{layer}" for kind in ("means", "biases") for layer in range(layers)]
    parameters = [given[name].requires_grad_() for name in names]
    noise = [given[f"noise.{layer}"] for layer in range(layers)] if surrogate == "lrt-binary" else None
    loss = loss_function(mode, means)(surrogate, parameters[:layers], parameters[layers:], *scaled(given["inputs"]), given["labels"].long(), noise)
    write_safetensors(gradients, dict(zip(names, torch.autograd.grad(loss, parameters))))
    return loss.item()


def main():
    trainer = None
    for line in sys.stdin:
        message = json.loads(line)
        if "quit" in message:
            break
        if "setup" in message:
            trainer = None  # frees the old one first
            trainer = Trainer(**message["setup"])
            answer = {"ready": True, "torch": torch.__version__, "parameters": sum(p.numel() for p in trainer.parameters)}
        elif "check" in message:
            answer = {"loss": check(message["check"], *(message[key] for key in ("gradients", "surrogate", "means", "mode")))}
        else:
            seconds, loss = trainer.steps(message["steps"])
            # Kibibytes on Linux, bytes on macOS.
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e6 / 1024)
            answer = {"seconds": seconds, "loss": loss, "peak_rss_mb": round(peak, 1)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
