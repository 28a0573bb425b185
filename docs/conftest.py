"""The examples of python.md run in an empty directory."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the examples write is not left in the repository."""
    monkeypatch.chdir(tmp_path)
