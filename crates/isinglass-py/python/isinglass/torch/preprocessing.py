"""From raw values to a network's inputs.

`x = (byte − offset)·scale`, with one offset and scale for all columns.
Real numbers become bytes first, each column by its own centre and factor:

`byte = 128 + round(clamp((value − centre)·factor, −128, 127))`, ties to even.

The rule belongs to the network: checkpoints and packed networks hold it, and take raw values.
All of it is computed in float32, as everywhere in isinglass, so that every device has the same inputs.

>>> import torch, isinglass as ig
>>> images = torch.tensor([[0, 100], [200, 100]], dtype=torch.uint8)
>>> rule = ig.torch.Preprocessing.fit(images)
>>> rule
Preprocessing(offset=100, scale=0.0141421)
>>> rule(images)
tensor([[-1.4142,  0.0000],
        [ 1.4142,  0.0000]])

Images that a loop normalises to `(byte/255 − mean)/std`, as torchvision's `ToTensor` and `Normalize` do:

>>> ig.torch.Preprocessing.normalising(mean=0.1307, std=0.3081)
Preprocessing(offset=33.3285, scale=0.0127282)
"""

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

RANGE = 4.0
"""Standard deviations either side of a column's mean that become the bytes 1 to 255."""


class Preprocessing(nn.Module):
    """How raw values become inputs.

    Arguments:
        offset, scale: subtracted from bytes, and applied after that.
        centres, factors: one of each per column, where real numbers are quantised to bytes.
        of_bytes: whether raw values are bytes, given or quantised; None if unknown.
    """

    offset: Tensor
    scale: Tensor
    centres: Tensor | None
    factors: Tensor | None

    def __init__(
        self,
        offset: float,
        scale: float,
        *,
        centres: Tensor | None = None,
        factors: Tensor | None = None,
        of_bytes: bool | None = True,
    ) -> None:
        super().__init__()
        if not (math.isfinite(offset) and math.isfinite(scale) and scale > 0):
            raise ValueError(f"preprocessing with offset {offset} and scale {scale}: both must be finite, and the scale above 0")
        if (centres is None) != (factors is None):
            raise ValueError("centres and factors belong together: pass both, or neither")
        self.of_bytes = of_bytes
        self.register_buffer("offset", torch.tensor(offset, dtype=torch.float32))
        self.register_buffer("scale", torch.tensor(scale, dtype=torch.float32))
        self.register_buffer("centres", None if centres is None else centres.detach().to(torch.float32).flatten())
        self.register_buffer("factors", None if factors is None else factors.detach().to(torch.float32).flatten())

    @classmethod
    def fit(cls, values: Tensor, *, features: Literal["image", "table"] | None = None) -> "Preprocessing":
        """The rule that the engine chooses for these training examples (rows), with inputs of mean 0 and variance 1.

        By default bytes are an `image`, whose pixels share one scale, and real numbers a `table`, each of whose columns has its own.
        """
        if values.numel() == 0:
            raise ValueError("no values: a rule is chosen on at least one example")
        rows = values.detach().reshape(len(values), -1).cpu().numpy()
        is_bytes = rows.dtype == np.uint8
        features = features or ("image" if is_bytes else "table")
        if features not in ("image", "table"):
            raise ValueError(f"features {features!r}: use 'image' or 'table'")
        if is_bytes and features == "image":
            return cls(*_standardising(np.bincount(rows.ravel(), minlength=256)))
        rows = rows.astype(np.float32)
        if not np.isfinite(rows).all():
            row, column = np.argwhere(~np.isfinite(rows))[0]
            raise ValueError(f"value {rows[row, column]} in row {row}, column {column}: only finite numbers can be quantised")
        centres, factors = _table(rows) if features == "table" else _image(rows)
        quantised = cls(128.0, RANGE / 127, centres=torch.from_numpy(centres), factors=torch.from_numpy(factors))
        if features == "image":
            found = quantised.to_bytes(torch.from_numpy(rows)).to(torch.uint8).numpy()
            offset, scale = _standardising(np.bincount(found.ravel(), minlength=256))
            quantised.offset.fill_(offset)
            quantised.scale.fill_(scale)
        return quantised

    @classmethod
    def normalising(cls, mean: float, std: float) -> "Preprocessing":
        """The rule of bytes that are divided by 255, and then normalised by this mean and standard deviation."""
        if not (math.isfinite(mean) and math.isfinite(std) and std > 0):
            raise ValueError(f"normalising with mean {mean} and std {std}: both must be finite, and std above 0")
        return cls(255 * mean, 1 / (255 * std))

    @classmethod
    def from_dict(cls, rule: Mapping[str, Any]) -> "Preprocessing":
        """From what the engine says: `offset`, `scale`, `bytes`, `centres` and `factors`."""
        centres, factors = rule.get("centres"), rule.get("factors")
        return cls(
            rule["offset"],
            rule["scale"],
            centres=None if centres is None else torch.tensor(np.asarray(centres)),
            factors=None if factors is None else torch.tensor(np.asarray(factors)),
            of_bytes=rule.get("bytes"),
        )

    def to_dict(self) -> dict[str, Any]:
        """What `from_dict` takes."""
        quantiser = {"centres": self.centres, "factors": self.factors}
        arrays = {name: None if values is None else values.cpu().numpy().copy() for name, values in quantiser.items()}
        return {"offset": self.offset.item(), "scale": self.scale.item(), "bytes": self.of_bytes, **arrays}

    def gives_bytes(self, values: Tensor) -> bool:
        """Whether these raw values are bytes, or become bytes."""
        return self.centres is not None or values.dtype == torch.uint8

    def to_bytes(self, values: Tensor) -> Tensor:
        """Raw values as bytes, in float32; values without a quantiser are unchanged."""
        if self.centres is None or self.factors is None:
            return self._whole(values).to(torch.float32)
        values = values.to(torch.float32)
        if values.shape[-1] != len(self.centres):
            raise ValueError(f"an input rule for {len(self.centres)} columns, applied to {values.shape[-1]}")
        # 0·∞ is not a number, and becomes byte 128; missing values stay missing.
        steps = (values - self.centres) * self.factors
        return torch.where(self.factors == 0, torch.zeros_like(steps), steps).clamp(-128, 127).round() + 128

    def _whole(self, values: Tensor) -> Tensor:
        """Bytes may be stored as floats; pixels between 0 and 1 are not bytes."""
        if self.of_bytes and values.is_floating_point() and not values.is_meta and not torch.equal(values, values.round()):
            raise ValueError(
                "real numbers for a network that takes bytes: pass the pixels as uint8 (0 to 255), which the network's preprocessing scales itself"
            )
        return values

    def forward(self, values: Tensor) -> Tensor:
        """The inputs, in float32."""
        return (self.to_bytes(values) - self.offset) * self.scale

    def _apply(self, fn: Any, recurse: bool = True) -> "Preprocessing":
        """Moves to other devices, but stays in float32."""
        names = ("offset", "scale", "centres", "factors")
        before = {name: getattr(self, name) for name in names}
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        for name, values in before.items():
            if values is not None and getattr(self, name).dtype != torch.float32:
                setattr(self, name, values.to(getattr(self, name).device))
        return self

    def extra_repr(self) -> str:
        """Offset, scale and number of columns."""
        columns = "" if self.centres is None else f", columns={len(self.centres)}"
        return f"offset={self.offset.item():g}, scale={self.scale.item():g}{columns}"


def _standardising(counts: Any) -> tuple[float, float]:
    """Offset and scale that give bytes of these counts mean 0 and variance 1, from exact sums."""
    counts = [int(count) for count in counts]
    count = sum(counts)
    total = sum(byte * times for byte, times in enumerate(counts))
    squares = sum(byte * byte * times for byte, times in enumerate(counts))
    deviation = math.sqrt(float(count * squares - total * total) / float(count * count))
    return float(np.float32(total / count)), float(np.float32(1 / deviation)) if deviation > 0 else 1.0


def _factor(steps: float, width: float) -> float:
    """`steps/width`, or 0 where that overflows: the column is as good as constant."""
    factor = steps / width if width > 0 else 0.0
    return factor if factor <= float(np.finfo(np.float32).max) else 0.0


def _table(rows: Any) -> tuple[Any, Any]:
    """Centre and factor of every column: its mean becomes byte 128, and `RANGE` deviations either side of it 127 steps."""
    # In 64 bits and row after row, as the engine adds them.
    sums, squares = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    for row in rows:
        sums += row
    means = sums / len(rows)
    for row in rows:
        squares += (row - means) ** 2
    deviations = np.sqrt(squares / len(rows))
    varies = (rows != rows[0]).any(axis=0)
    factors = [_factor(127.0, RANGE * deviation) if varied else 0.0 for deviation, varied in zip(deviations.tolist(), varies, strict=True)]
    return means.astype(np.float32), np.array(factors, dtype=np.float32)


def _image(rows: Any) -> tuple[Any, Any]:
    """One centre and factor for all columns: the smallest value becomes byte 0, the largest 255."""
    least, width = float(rows.min()), float(rows.max()) - float(rows.min())
    centre, factor = least + width * (128 / 255), _factor(255.0, width)
    columns = rows.shape[1]
    return np.full(columns, centre, dtype=np.float32), np.full(columns, factor, dtype=np.float32)
