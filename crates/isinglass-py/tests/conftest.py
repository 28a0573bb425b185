"""Fixtures: small data, and the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support import Example, run_command

# Small networks gain nothing from PyTorch's threads, and lose much on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture
def cli() -> Callable[..., Any]:
    """Runs a command and reads the JSON that it prints."""

    def run(*arguments: str) -> Any:
        result = run_command(*arguments, "--format", "json")
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    return run


@pytest.fixture(scope="session")
def bars() -> Example:
    """Small images with a bright row or a bright column: bytes, two classes."""
    rng = np.random.default_rng(1)
    images = rng.integers(0, 90, (400, 8, 8), dtype=np.uint8)
    labels = rng.integers(0, 2, 400).astype(np.uint8)
    for image, label, place in zip(images, labels, rng.integers(0, 8, 400)):
        if label:
            image[:, place] = 230
        else:
            image[place, :] = 230
    return images.reshape(400, 64), labels
