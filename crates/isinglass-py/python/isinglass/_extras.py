"""Optional dependencies: imported when they are needed, with an error that names the extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_EXTRAS = {"pandas": "pandas", "sklearn": "sklearn", "torch": "torch", "matplotlib": "matplotlib"}


def require(module: str) -> Any:
    """The module, or an ImportError that says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        if (error.name or "").partition(".")[0] != module:
            raise
        raise ImportError(f"this needs {module}: pip install 'isinglass[{_EXTRAS[module]}]'", name=module) from error
