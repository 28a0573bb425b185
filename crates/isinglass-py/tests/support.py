"""What the tests share."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

Example = tuple[NDArray[Any], NDArray[Any]]


def run_command(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the command line that the package installs."""
    return subprocess.run([sys.executable, "-m", "isinglass", *arguments], capture_output=True, text=True, cwd=cwd, check=False)
