"""Runs exported networks with onnxruntime.

    onnx_peer.py MODEL INPUTS [MODEL INPUTS ...]

INPUTS are raw bytes, or little-endian float32 for models that take real numbers.
Prints a line for every row of every model: the class, the sums and the probabilities, separated by ';'.
Models are also checked with the `onnx` package, if it is installed.
"""
import sys

import numpy
import onnxruntime

try:
    import onnx
except ImportError:
    onnx = None
    print("the onnx package is missing: models are not checked", file=sys.stderr)


def run(model, images):
    if onnx is not None:
        onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (images_in,) = session.get_inputs()
    dtype = {"images": numpy.uint8, "rows": numpy.dtype("<f4")}[images_in.name]
    batch = numpy.fromfile(images, dtype=dtype).reshape(-1, images_in.shape[1])
    # One row first, then the rest: batches may have any size.
    for part in (batch[:1], batch[1:]):
        sums, probabilities, classes = session.run(["sums", "probabilities", "classes"], {images_in.name: part})
        assert (sums.dtype, probabilities.dtype, classes.dtype) == (numpy.int32, numpy.float64, numpy.int64)
        assert sums.ndim == 3 and probabilities.ndim == 2 and classes.ndim == 1
        for image in range(len(part)):
            numbers = (str(number) for number in sums[image].ravel())
            shares = (repr(float(share)) for share in probabilities[image])
            print(classes[image], " ".join(numbers), " ".join(shares), sep=";")


for model, images in zip(sys.argv[1::2], sys.argv[2::2]):
    run(model, images)
