"""Fixtures: small data, and the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import pytest
from support import Example, run_command

# Small networks gain nothing from PyTorch's threads, and lose much on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# On some virtual machines with AMX, PyTorch 2.15's own products of 16-bit floats end in an illegal instruction.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")


if os.environ.get("ISINGLASS_REQUIRE") == "1":
    # Nothing may be missing: what would be skipped fails.

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        return _required(report)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        return _required(report)


# Scikit-learn skips one of its own checks unless an experimental mode of SciPy is on: nothing is missing there.
_NOT_MISSING = "SCIPY_ARRAY_API is not set"


def _required(report: Any) -> Any:
    if report.skipped and _NOT_MISSING not in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"skipped, and ISINGLASS_REQUIRE=1 says that nothing may be missing: {report.longrepr}"
    return report


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
