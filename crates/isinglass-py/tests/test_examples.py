"""The examples run as they are."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_first_five_minutes(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    quickstart = load("quickstart")
    quickstart.ask_the_theory()
    assert quickstart.train_and_deploy(tmp_path, epochs=3) > 0.9
    quickstart.sweep(tmp_path)
    assert {"curves.svg", "model.safetensors", "model.c", "model.onnx", "sweep"} <= {path.name for path in tmp_path.iterdir()}
