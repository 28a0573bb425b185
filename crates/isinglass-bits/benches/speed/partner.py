"""Products and networks of floats and of 8-bit integers, the other side of the benchmark `speed`.

Speaks JSON lines, so that the benchmark can run in turns with its own:

    {"sides": true}     -> {"sides": ["PyTorch f32", ...], "versions": "torch 2.15.0"}
    {"setup": {"side": "PyTorch f32", "sizes": [784, 1024, 10], "batch": 64, "threads": 1}}
                        -> {"ready": true}
    {"runs": 50, "slices": 5, "side": "PyTorch f32"}
                        -> {"seconds": 0.3}, the least of five times for 50 runs

Two sizes are a single product without bias. More are a network with ReLU, which costs them next to nothing; its inputs are converted
beforehand, which helps them too. Integers are the fastest way that each library was found to offer:

- PyTorch: `torch._int_mm` for a product; for a network `quantized::linear_relu` with fixed scales (`quantize_dynamic` is slower).
- onnxruntime: `MatMulInteger` for a product; for a network a chain of `QLinearMatMul`, whose saturation is the ReLU.

    pip install torch
    pip install onnxruntime onnx numpy

On processors that are not Intel's, ISINGLASS_PYTHON="$PWD/scripts/python-unlocked-mkl" lets MKL use AVX-512 (an absolute path; see the script).
"""

import json
import sys
import time
import warnings

try:
    import torch
except ImportError:
    torch = None
try:
    import numpy
    import onnx
    import onnxruntime
except ImportError:
    onnxruntime = None


def torch_f32(sizes, batch):
    x = torch.randn(batch, sizes[0])
    if len(sizes) == 2:
        w = torch.randn(sizes[1], sizes[0]).t()
        out = torch.empty(batch, sizes[1])
        return lambda: torch.mm(x, w, out=out)
    network = torch_network(sizes)
    return lambda: network(x)


def torch_network(sizes):
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU(inplace=True)]
    return torch.nn.Sequential(*layers[:-1]).eval()


def torch_int8(sizes, batch):
    if len(sizes) == 2:
        x = torch.randint(-127, 128, (batch, sizes[0]), dtype=torch.int8)
        w = torch.randint(-127, 128, (sizes[1], sizes[0]), dtype=torch.int8).t()
        out = torch.empty(batch, sizes[1], dtype=torch.int32)
        return lambda: torch._int_mm(x, w, out=out)
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        w = torch.quantize_per_tensor(torch.randn(outputs, inputs), 0.02, 0, torch.qint8)
        layers.append(torch.ops.quantized.linear_prepack(w, torch.zeros(outputs)))
    x = torch.quantize_per_tensor(torch.rand(batch, sizes[0]), 1 / 128, 0, torch.quint8)

    def run():
        y = x
        for packed in layers[:-1]:
            y = torch.ops.quantized.linear_relu(y, packed, 0.1, 0)
        return torch.ops.quantized.linear(y, layers[-1], 0.1, 0)

    return run


def onnx_session(nodes, initializers, x_type, x_shape, y_type, y_shape, threads):
    helper = onnx.helper
    graph = helper.make_graph(
        nodes,
        "speed",
        [helper.make_tensor_value_info("x0", x_type, x_shape)],
        [helper.make_tensor_value_info("y", y_type, y_shape)],
        [onnx.numpy_helper.from_array(value, name) for name, value in initializers.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def onnx_f32(sizes, batch, threads):
    node = onnx.helper.make_node
    rng = numpy.random.default_rng(1)
    nodes, initializers = [], {}
    for layer, (inputs, outputs) in enumerate(zip(sizes, sizes[1:])):
        last = layer == len(sizes) - 2
        initializers[f"w{layer}"] = rng.standard_normal((inputs, outputs), dtype=numpy.float32)
        y = "y" if last else f"s{layer}"
        if len(sizes) == 2:
            nodes.append(node("MatMul", [f"x{layer}", f"w{layer}"], [y]))
        else:
            initializers[f"b{layer}"] = numpy.zeros(outputs, numpy.float32)
            nodes.append(node("Gemm", [f"x{layer}", f"w{layer}", f"b{layer}"], [y]))
        if not last:
            nodes.append(node("Relu", [f"s{layer}"], [f"x{layer + 1}"]))
    f32 = onnx.TensorProto.FLOAT
    session = onnx_session(nodes, initializers, f32, [batch, sizes[0]], f32, [batch, sizes[-1]], threads)
    return bound(session, rng.standard_normal((batch, sizes[0]), dtype=numpy.float32))


def onnx_int8(sizes, batch, threads):
    node = onnx.helper.make_node
    rng = numpy.random.default_rng(1)
    x = rng.integers(0, 256, (batch, sizes[0]), dtype=numpy.uint8)
    u8, i32 = onnx.TensorProto.UINT8, onnx.TensorProto.INT32
    weights = [rng.integers(-127, 128, shape, dtype=numpy.int8) for shape in zip(sizes, sizes[1:])]
    if len(sizes) == 2:
        nodes = [node("MatMulInteger", ["x0", "w"], ["y"])]
        return bound(onnx_session(nodes, {"w": weights[0]}, u8, [batch, sizes[0]], i32, [batch, sizes[1]], threads), x)
    initializers = {"one": numpy.float32(0.02), "out": numpy.float32(1), "z8": numpy.uint8(0), "zw": numpy.int8(0)}
    nodes = []
    for layer, w in enumerate(weights):
        initializers[f"w{layer}"] = w
        y = "y" if layer == len(weights) - 1 else f"x{layer + 1}"
        nodes.append(node("QLinearMatMul", [f"x{layer}", "one", "z8", f"w{layer}", "one", "zw", "out", "z8"], [y]))
    initializers = {name: numpy.asarray(value) for name, value in initializers.items()}
    return bound(onnx_session(nodes, initializers, u8, [batch, sizes[0]], u8, [batch, sizes[-1]], threads), x)


def bound(session, x):
    """Runs without conversions and copies of inputs and outputs."""
    binding = session.io_binding()
    binding.bind_cpu_input("x0", x)
    binding.bind_output("y", "cpu")
    return lambda: session.run_with_iobinding(binding)


def setup(side, sizes, batch, threads):
    if side.startswith("onnxruntime"):
        return (onnx_f32 if side.endswith("f32") else onnx_int8)(sizes, batch, threads)
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    return {"PyTorch f32": torch_f32, "PyTorch int8": torch_int8}[side](sizes, batch)


def measure(run, count):
    start = time.perf_counter()
    for _ in range(count):
        run()
    return time.perf_counter() - start


def main():
    prepared = {}
    for line in sys.stdin:
        message = json.loads(line)
        if "sides" in message:
            sides = ["PyTorch f32", "PyTorch int8"] if torch else []
            sides += ["onnxruntime f32", "onnxruntime int8"] if onnxruntime else []
            versions = [f"torch {torch.__version__}"] if torch else []
            versions += [f"onnxruntime {onnxruntime.__version__}"] if onnxruntime else []
            answer = {"sides": sides, "versions": ", ".join(versions)}
        elif "setup" in message:
            prepared[message["setup"]["side"]] = setup(**message["setup"])
            answer = {"ready": True}
        else:
            answer = {"seconds": min(measure(prepared[message["side"]], message["runs"]) for _ in range(message["slices"]))}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # PyTorch announces that its quantised tensors will go
    if torch:
        with torch.inference_mode():
            main()
    else:
        main()
