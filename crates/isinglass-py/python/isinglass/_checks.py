"""Numbers that a user gives, checked before they reach compiled code."""

from __future__ import annotations

from operator import index
from typing import Any


def whole(name: str, value: Any, least: int = 0) -> int:
    """A whole number, or a ValueError that names it.

    >>> whole("depth", 3)
    3
    >>> whole("depth", -1)
    Traceback (most recent call last):
    ValueError: depth = -1: must be a whole number, at least 0
    """
    try:
        number = index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise ValueError(f"{name} = {value}: must be a whole number, at least {least}")
    return number


def threads_or_all(threads: int | None) -> int:
    """The number of threads; 0 stands for one per core."""
    return 0 if threads is None else whole("threads", threads)
