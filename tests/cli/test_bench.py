"""`accelhal bench` as a user calls it: output, files, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from fake_spec import fake_spec

import accelhal
from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.main import cli
from accelhal.facts import ProbeStatus
from accelhal.runtimes.cpu import CpuRuntime

FAST = ("--device", "cpu", "--model", "mlp", "--batch-sizes", "1,2", "--seconds", "0.01")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_registry: None) -> Path:
    """The current folder, with a model in it; the search path is restored afterwards."""
    (tmp_path / "my_models.py").write_text(
        "import torch\n"
        "def good():\n"
        "    return torch.nn.Linear(4, 2), torch.ones(1, 4)\n"
        "def none():\n"
        "    return None\n"
        "class Full(torch.nn.Linear):\n"
        "    def forward(self, x):\n"
        "        if len(x) > 1:\n"
        "            raise torch.OutOfMemoryError('tried to allocate 1 TiB')\n"
        "        return super().forward(x)\n"
        "def full():\n"
        "    return Full(4, 2), torch.ones(1, 4)\n"
        "class Broken(torch.nn.Linear):\n"
        "    def forward(self, x):\n"
        "        raise ValueError('a [bracket] and a reason')\n"
        "def broken():\n"
        "    return Broken(4, 2), torch.ones(1, 4)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "my_models", raising=False)
    return tmp_path


def bench(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["bench", *arguments])


def test_the_table_shows_model_numbers_and_how_they_were_measured() -> None:
    result = bench(*FAST)
    assert result.exit_code == ExitCode.FINE, result.stderr
    for text in ("mlp (1.9 M)", "samples/s", "p99 ms", "MiB", "cpu:0", "host's clock", "resident"):
        assert text in result.stdout
    assert "simulated" not in result.stdout


def test_the_json_has_a_schema_and_every_number() -> None:
    result = bench(*FAST, "--json")
    document = json.loads(result.stdout)
    assert document["schema"] == "accelhal.bench/1"
    assert document["simulated"] is False
    rows = document["models"][0]["rows"]
    assert [row["batch_size"] for row in rows] == [1, 2]
    assert all(value is not None for row in rows for value in row.values())


def test_out_of_memory_is_a_result(own_folder: Path) -> None:
    result = bench(*FAST[:2], "--model", "my_models:full", *FAST[4:])
    assert result.exit_code == ExitCode.FINE
    assert "out of memory" in result.stdout
    assert "tried to allocate 1 TiB" in result.stdout


def test_a_model_that_fails_is_a_failure_with_its_reason() -> None:
    result = bench(*FAST[:2], "--model", "my_models:broken", *FAST[4:])
    assert result.exit_code == ExitCode.FAILURE
    assert "ValueError: a [bracket] and a reason" in result.stdout


def test_a_model_of_the_current_folder_is_found() -> None:
    result = bench(*FAST[:2], "--model", "my_models:good", *FAST[4:])
    assert result.exit_code == ExitCode.FINE, result.stderr
    assert "my_models:good (10)" in result.stdout


def test_a_simulated_board_is_marked() -> None:
    accelhal.register(fake_spec("toy", simulated=True))
    named = ("--device", "toy", *FAST[2:])
    assert "simulated" in bench(*named).stdout
    assert json.loads(bench(*named, "--json").stdout)["simulated"] is True


def test_falling_back_to_the_processor_is_one_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCELHAL_BACKENDS", "cpu")
    result = bench(*FAST[2:], "--json")
    assert result.exit_code == ExitCode.FINE
    (line,) = result.stderr.splitlines()
    assert line.startswith("accelhal: warning: using cpu")
    json.loads(result.stdout)


def test_the_plot_is_written(own_folder: Path) -> None:
    result = bench(*FAST, "--plot", "out.png")
    assert result.exit_code == ExitCode.FINE, result.stderr
    assert (own_folder / "out.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "nope"), "no model is named 'nope'"),
        (("--model", "my_models:none"), "returned None, not a pair"),
        (("--model", "my_models:absent"), "has no attribute 'absent'"),
        (("--device", "nope"), "no backend is named 'nope'"),
        (("--device", "cpu:9"), "cpu:9 does not exist"),
        (("--device", "cpu:x"), "is not a device name"),
        (("--batch-sizes", "0"), "positive integer, not 0"),
        (("--batch-sizes", "1,-8"), "positive integer, not -8"),
        (("--batch-sizes", "1,x"), "'1,x' is not a list of integers"),
        (("--batch-sizes", ""), "is not a list of integers"),
        (("--seconds", "0"), "positive number"),
        (("--seconds", "nan"), "positive number"),
        (("--seconds", "soon"), "'soon' is not a valid float"),
        (("--dtype", "int8"), "'int8' is not one of"),
        (("--plot", "missing/out.png"), "missing does not exist"),
        (("--plot", "out"), "must end in an image format"),
    ],
)
def test_bad_usage_is_one_message_and_exit_code_4(arguments: tuple[str, ...], message: str) -> None:
    result = bench(*arguments)
    assert result.exit_code == ExitCode.USAGE
    assert message in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_a_device_that_the_environment_names_wrongly_is_usage_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ACCELHAL_DEVICE", "nope:0")
    assert bench(*FAST[2:]).exit_code == ExitCode.USAGE


def test_a_board_that_is_away_could_not_be_measured() -> None:
    accelhal.register(fake_spec("away", Empty, status=ProbeStatus.NO_HARDWARE, count=0))
    result = bench("--device", "away", *FAST[2:])
    assert result.exit_code == ExitCode.COULD_NOT_RUN
    assert "away is no_hardware" in result.stderr


class Empty(CpuRuntime):
    def device_count(self) -> int:
        return 0


WITHOUT_TORCH = """
import sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

sys.meta_path.insert(0, NoTorch())
from accelhal.cli.main import main
sys.argv = ["accelhal", "bench", "--quick"]
main()
"""


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_without_torch_the_way_to_get_it_is_named() -> None:
    done = run(sys.executable, "-c", WITHOUT_TORCH)
    assert done.returncode == ExitCode.COULD_NOT_RUN
    assert "torch is not installed" in done.stderr
    assert "pip install 'accelhal[torch]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_quick_runs_from_start_to_end() -> None:
    code = "from accelhal.cli.main import main; main()"
    done = run(sys.executable, "-c", code, "bench", "--quick", "--json", "--device", "cpu")
    assert done.returncode == ExitCode.FINE, done.stderr
    document = json.loads(done.stdout)
    assert [model["name"] for model in document["models"]] == ["mlp", "encoder"]
    rows = [row for model in document["models"] for row in model["rows"]]
    assert {row["status"] for row in rows} == {"measured"}
    assert {row["batch_size"] for row in rows} == {1, 8, 32}
    assert done.stderr == ""  # no progress bar where nobody looks
