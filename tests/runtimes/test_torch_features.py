"""Features of torch: each is told on a torch that has it and on one that has not."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import accelhal.runtimes
from accelhal.runtimes.torch_features import (
    accelerator_error,
    has_accelerator_module,
    precision_settings,
)


def test_an_older_torch_has_no_accelerator_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "accelerator", object(), raising=False)
    assert has_accelerator_module()
    monkeypatch.delattr(torch, "accelerator")
    assert not has_accelerator_module()


def test_an_older_torch_has_no_accelerator_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class AcceleratorError(RuntimeError):
        pass

    monkeypatch.setattr(torch, "AcceleratorError", AcceleratorError, raising=False)
    assert accelerator_error() is AcceleratorError
    monkeypatch.delattr(torch, "AcceleratorError")
    assert accelerator_error() is None


def test_precision_settings_are_there_together_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    conv, rnn = SimpleNamespace(fp32_precision="ieee"), SimpleNamespace(fp32_precision="tf32")
    library = SimpleNamespace(conv=conv, rnn=rnn)
    monkeypatch.setattr(torch, "backends", SimpleNamespace(toy=library))
    assert precision_settings("toy.conv", "toy.rnn") == (conv, rnn)
    assert precision_settings("toy.conv", "toy.matmul") == ()
    assert precision_settings("other.conv") == ()
    del rnn.fp32_precision
    assert precision_settings("toy.conv", "toy.rnn") == ()


def test_no_other_runtime_module_looks_at_torch_s_release() -> None:
    looks = re.compile(
        r"hasattr\(torch(\.backends\S*)?, \"|torch\.__version__\s*[<>=]|parse\(torch\.__version__"
    )
    folder = Path(str(accelhal.runtimes.__file__)).parent
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted(folder.glob("*.py"))
        if path.name != "torch_features.py"
        for line in path.read_text().splitlines()
        if looks.search(line)
    ]
    assert not found
