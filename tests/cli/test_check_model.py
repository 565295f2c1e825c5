"""`accelhal check-model` as a user calls it: tables, JSON, exit codes, and what it refuses."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from fake_spec import fake_spec

import accelhal
from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.main import cli

MODELS = """
import threading
import torch
from torch import nn

def good():
    return nn.Sequential(nn.Linear(4, 2), nn.GELU()), torch.ones(1, 4)

def bare():
    return nn.Linear(4, 2)

class Special(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
    def forward(self, x):
        print("the model prints")
        return torch.linalg.eigvals(self.inner(x)).abs()

def special():
    return Special(), torch.ones(4, 4)

class Histogram(nn.Module):
    def forward(self, x):
        return torch.histogram(x, bins=4).hist

def histogram():
    return Histogram(), torch.rand(9)

def none():
    return None

class Fails(nn.Module):
    def forward(self, x):
        raise ValueError("a [bracket] and a reason")

def fails():
    return Fails(), torch.ones(1)

class Threaded(nn.Module):
    def forward(self, x):
        found = []
        worker = threading.Thread(target=lambda: found.append(torch.linalg.eigvals(x)))
        worker.start()
        worker.join()
        return found[0]

def threaded():
    return Threaded(), torch.ones(2, 2)
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_registry: None) -> Path:
    """The current folder, with models in it; the search path is restored afterwards."""
    (tmp_path / "checked_models.py").write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "checked_models", raising=False)
    return tmp_path


def check(model: str, *arguments: str, device: str = "npu") -> Result:
    command = ["check-model", f"checked_models:{model}", "--device", device, *arguments]
    return CliRunner().invoke(cli, command)


def test_a_model_that_runs_there_is_fine() -> None:
    result = check("good", "--backward")
    assert result.exit_code == ExitCode.FINE, result.stderr
    assert "record of torch_npu" in result.stdout
    assert "Every operator runs on the device." in result.stdout
    assert "aten::addmm" not in result.stdout


def test_verbose_shows_every_operator() -> None:
    result = check("good", "-v")
    assert "aten::addmm" in result.stdout
    assert "in 0 (Linear)" in result.stdout


def test_what_falls_back_is_a_failure_with_its_place() -> None:
    result = check("special")
    assert result.exit_code == ExitCode.FAILURE
    line = MODELS.splitlines().index("        return torch.linalg.eigvals(self.inner(x)).abs()") + 1
    for text in ("aten::linalg_eig", "falls back to CPU", f"checked_models.py:{line} in Special"):
        assert text in result.stdout
    assert "1 operator falling back to the CPU. What falls back takes" in result.stdout
    assert "the model prints" not in result.stdout


def test_what_is_missing_is_a_failure() -> None:
    result = check("histogram", device="cuda")  # torch has it for the CPU alone
    assert result.exit_code == ExitCode.FAILURE
    assert "record of torch 2." in result.stdout
    assert "1 operator missing on the device." in result.stdout


def test_another_backend_may_have_what_one_lacks() -> None:
    assert check("special", "--trace", "fake", device="cuda").exit_code == ExitCode.FINE
    assert check("special", "--trace", "fake", device="npu").exit_code == ExitCode.FAILURE


def test_no_record_is_neither_success_nor_failure() -> None:
    result = check("good", device="mlu")
    assert result.exit_code == ExitCode.COULD_NOT_RUN
    assert "the plugin has no record of operators: make one with" in result.stdout
    assert "it is not known how the device runs" in result.stdout


def test_a_model_whose_operators_are_not_seen_is_not_called_fine() -> None:
    result = check("threaded")
    assert result.exit_code == ExitCode.COULD_NOT_RUN
    assert "No operator was seen" in result.stdout


def test_this_process_is_asked_where_the_backend_works() -> None:
    result = check("special", device="cpu")
    assert result.exit_code == ExitCode.FINE
    assert "torch's dispatcher in this process" in result.stdout


def test_the_json_has_a_schema_and_all_that_was_found() -> None:
    result = check("special", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == ExitCode.FAILURE
    assert document["schema"] == "accelhal.check-model/1"
    assert document["verdict"] == "lacks_operators"
    assert document["live"] is False
    assert 0 < document["fallback_percent"] <= 100
    first = document["operators"][0]
    assert first["name"] == "aten::linalg_eig"
    assert first["coverage"] == "falls_back"
    assert first["places"][0]["module"] == "Special"
    assert sum(document["counts"].values()) == len(document["operators"])


def test_the_markdown_is_a_table() -> None:
    result = check("special", "--markdown")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("### checked_models:special for npu")
    assert any(
        line.startswith("| aten::linalg_eig | falls back to CPU | forward |") for line in lines
    )


def test_inputs_as_text() -> None:
    result = check("bare", "--input", "float32[3,4]", "-v")
    assert result.exit_code == ExitCode.FINE, result.stderr
    assert "float32[3,4]" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bare",), "returned a model without inputs"),
        (("none",), "returned None where a torch.nn.Module is due"),
        (("absent",), "no attribute 'absent'"),
        (("good", "--input", "float32"), "'float32' is not an input"),
        (("good", "--json", "--markdown"), "exclude one another"),
        (("good", "--record", "absent.json"), "absent.json is not a record of operators"),
        (("good", "--record", "x", "--trace", "device"), "--record is for a device that is not"),
        (("good", "--trace", "moon"), "'moon' is not one of"),
    ],
)
def test_what_is_wrong_with_the_call(arguments: tuple[str, ...], message: str) -> None:
    result = check(*arguments)
    assert result.exit_code == ExitCode.USAGE
    assert message in result.stderr
    assert result.stdout == ""


def test_names_that_mean_nothing() -> None:
    for device, message in (("NPU:x", "is not a device name"), ("nqu", "did you mean 'npu'")):
        result = check("good", device=device)
        assert result.exit_code == ExitCode.USAGE
        assert message in result.stderr
    result = CliRunner().invoke(cli, ["check-model", "no-factory", "--device", "cpu"])
    assert result.exit_code == ExitCode.USAGE
    assert "does not name a factory" in result.stderr


def test_a_model_that_fails_could_not_be_checked() -> None:
    result = check("fails")
    assert result.exit_code == ExitCode.COULD_NOT_RUN
    assert "raised ValueError: a [bracket] and a reason" in result.stderr


def test_a_device_that_is_away_cannot_be_traced_on() -> None:
    result = check("good", "--trace", "device", device="mlu")
    assert result.exit_code == ExitCode.COULD_NOT_RUN
    assert "accelhal:" in result.stderr


def test_a_plugin_whose_extension_is_broken() -> None:
    spec = fake_spec("fake", extensions={"operators": "no_such_module:SUPPORT"})
    with accelhal.register(spec):
        result = check("good", device="fake")
    assert result.exit_code == ExitCode.COULD_NOT_RUN
    assert "its extension 'operators' raised ModuleNotFoundError" in result.stderr
