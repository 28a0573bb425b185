"""Pictures: the charts that the command line draws with ``--plot``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Figure:
    """A chart. A notebook shows it; `save` writes it.

    >>> import isinglass as ig
    >>> figure = ig.theory.trajectory("deterministic", "sign", sigma_m2=0.9).plot()
    >>> figure.svg[:4]
    '<svg'
    """

    def __init__(self, draw: Callable[[bool], str | bytes]) -> None:
        self._draw = draw
        self._svg: str | None = None

    @property
    def svg(self) -> str:
        """The chart as the text of an SVG."""
        if self._svg is None:
            self._svg = str(self._draw(False))
        return self._svg

    @property
    def png(self) -> bytes:
        """The chart as a PNG, in double resolution."""
        drawn = self._draw(True)
        assert isinstance(drawn, bytes)
        return drawn

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the chart to ``FILE.svg`` or ``FILE.png``."""
        target = Path(path)
        match target.suffix.lower():
            case ".svg":
                target.write_text(self.svg, encoding="utf-8")
            case ".png":
                target.write_bytes(self.png)
            case _:
                raise ValueError(f"{target}: a chart is written to a file that ends in .svg or .png")

    def _repr_svg_(self) -> str:
        """The chart, no wider than the page, be it part of the page or an image of its own."""
        return re.sub(r'width="(\d+)" height="\d+"', r'width="100%" style="max-width:\1px"', self.svg, count=1)

    def __repr__(self) -> str:
        return "<isinglass figure: .save('file.svg'), .save('file.png'), or the last value of a notebook's cell>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _still, (self.svg, self.png)


def _still(svg: str, png: bytes) -> Figure:
    """A figure that is drawn already."""
    return Figure(lambda as_png: png if as_png else svg)


def method(owner: Any) -> Callable[[bool], str | bytes]:
    """Draws with the methods `to_svg` and `to_png` of an object."""

    def draw(png: bool) -> str | bytes:
        drawn: str | bytes = owner.to_png() if png else owner.to_svg()
        return drawn

    return draw
