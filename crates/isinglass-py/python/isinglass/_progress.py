"""Progress: one line in a terminal, a bar in a notebook, nothing in a pipe."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

_WIDTH = 24


class Progress:
    """Shows how far something is. Drawing costs nothing worth mentioning: at most ten times a second."""

    def __init__(self, wanted: bool | None) -> None:
        self._notebook = _in_notebook() if wanted is not False else False
        self._terminal = wanted is True or (wanted is None and not self._notebook and _is_terminal())
        self._handle: Any = None
        self._drawn = 0.0
        self._began = time.monotonic()
        self._length = 0

    def show(self, fraction: float, text: str, *, at_once: bool = False) -> None:
        """Draws `fraction` of the bar and a few words."""
        now = time.monotonic()
        if not at_once and now - self._drawn < 0.1:
            return
        self._drawn = now
        if self._notebook:
            self._draw_html(fraction, text)
        elif self._terminal:
            done = round(_WIDTH * fraction)
            left = "" if not 0 < fraction < 1 else f", {_duration((now - self._began) * (1 - fraction) / fraction)} left"
            line = f"{'█' * done}{'░' * (_WIDTH - done)} {text}{left}"
            sys.stderr.write("\r" + line.ljust(self._length))
            sys.stderr.flush()
            self._length = len(line)

    def close(self) -> None:
        """Clears the line."""
        if self._terminal and self._length:
            sys.stderr.write("\r" + " " * self._length + "\r")
            sys.stderr.flush()
        if self._handle is not None:
            self._handle.update(_html(""))

    def _draw_html(self, fraction: float, text: str) -> None:
        content = _html(f"<progress value='{fraction:.3f}' max='1' style='width:18em'></progress> {text}")
        if self._handle is None:
            from IPython.display import display  # type: ignore[import-not-found,unused-ignore]

            self._handle = display(content, display_id=True)  # type: ignore[no-untyped-call,unused-ignore]
        else:
            self._handle.update(content)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _html(text: str) -> Any:
    from IPython.display import HTML

    return HTML(text)  # type: ignore[no-untyped-call,unused-ignore]


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    shell = get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02} min" if minutes else f"{rest} s"
