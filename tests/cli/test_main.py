"""The command line as such: help, lazy loading, exit codes, endings."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import click
import pytest
from cli.commands import COMMAND, TOY_SPEC, FakeSite
from click.testing import CliRunner, Result

import accelhal
from accelhal.cli import main as command_line
from accelhal.cli.ending import Terminated
from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.main import COMMANDS, cli
from accelhal.errors import (
    AccelhalError,
    AccelhalWarning,
    BackendNotFoundError,
    DeviceNotFoundError,
    UsageError,
)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def test_version() -> None:
    result = invoke("--version")
    assert (result.exit_code, result.output) == (0, f"accelhal {accelhal.__version__}\n")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_lists_every_command(option: str) -> None:
    result = invoke(option)
    assert result.exit_code == 0
    assert all(re.search(rf"^  {name} ", result.output, re.MULTILINE) for name in COMMANDS)


@pytest.mark.parametrize("name", ["devices", "doctor", "env"])
def test_each_command_has_help(name: str) -> None:
    result = invoke(name, "--help")
    assert result.exit_code == 0
    assert f"accelhal {name}" in result.output or f"cli {name}" in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["--nonsense"],
        ["devices", "--nonsense"],
        ["devices", "surplus"],
        ["doctor", "--timeout", "soon"],
        ["doctor", "--timeout", "0"],
        ["doctor", "--timeout", "nan"],
        ["doctor", "--timeout", "inf"],
        ["doctor", "no.such.check"],
        ["env", "--json", "surplus"],
    ],
)
def test_wrong_usage_ends_with_4_and_one_message(arguments: list[str]) -> None:
    result = invoke(*arguments)
    assert result.exit_code == ExitCode.USAGE
    assert result.stdout == ""
    assert result.stderr.strip()


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> Result:
    @click.command()
    def broken() -> None:
        raise error

    monkeypatch.setattr(command_line.LazyGroup, "get_command", lambda self, ctx, name: broken)
    return invoke("devices")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("not a device name"), ExitCode.USAGE),
        (BackendNotFoundError("no backend is named 'toy'"), ExitCode.COULD_NOT_RUN),
        (DeviceNotFoundError("cpu:7 does not exist"), ExitCode.COULD_NOT_RUN),
        (AccelhalError("out of luck"), ExitCode.COULD_NOT_RUN),
        (click.BadParameter("no"), ExitCode.USAGE),
        (click.FileError("x", "unreadable"), ExitCode.COULD_NOT_RUN),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED),
        (Terminated(), ExitCode.TERMINATED),
        (ZeroDivisionError("a bug"), ExitCode.COULD_NOT_RUN),
        (SystemExit(7), 7),
    ],
)
def test_every_error_has_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    result = failing(monkeypatch, error)
    assert result.exit_code == code
    assert result.stdout == ""


def test_an_error_is_shown_with_its_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    result = failing(monkeypatch, AccelhalError("no board", hint="pip install 'accelhal[torch]'"))
    assert result.stderr == "accelhal: no board\n  next: pip install 'accelhal[torch]'\n"


def test_a_bug_shows_its_traceback_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCELHAL_DEBUG", "1")
    assert isinstance(failing(monkeypatch, ZeroDivisionError()).exception, ZeroDivisionError)


def test_warnings_go_to_standard_error_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def warning() -> None:
        warnings.warn("using cpu", AccelhalWarning, stacklevel=1)

    monkeypatch.setattr(command_line.LazyGroup, "get_command", lambda self, ctx, name: warning)
    result = invoke("devices")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "accelhal: warning: using cpu\n"


def test_a_command_returns_its_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def found() -> ExitCode:
        return ExitCode.FAILURE

    monkeypatch.setattr(command_line.LazyGroup, "get_command", lambda self, ctx, name: found)
    assert invoke("devices").exit_code == 2


# ---- as a process


@pytest.mark.parametrize("command", ["devices", "doctor"])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_the_first_commands_take_no_torch(site: FakeSite, command: str, form: list[str]) -> None:
    code = (
        "import sys\n"
        "from accelhal.cli.main import cli\n"
        f"cli.main({[command, *form]!r}, standalone_mode=False)\n"
        "assert 'torch' not in sys.modules, 'torch was imported'\n"
        "assert 'accelhal.cli.bench' not in sys.modules\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=site.environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


def test_help_imports_no_command(site: FakeSite) -> None:
    code = (
        "import sys\n"
        "from accelhal.cli.main import cli\n"
        "cli.main(['--help'], standalone_mode=False)\n"
        "assert 'accelhal.cli.doctor' not in sys.modules\n"
        "assert 'rich' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], env=site.environment(), timeout=120, check=True)


def test_a_reader_that_leaves_is_no_error(site: FakeSite) -> None:
    read, write = os.pipe()
    os.close(read)
    for arguments in (["devices"], ["env"], ["doctor", "--json"]):
        ended = subprocess.run(
            [*COMMAND, *arguments],
            stdout=write,
            stderr=subprocess.PIPE,
            env=site.environment(),
            timeout=120,
            check=False,
        )
        assert (ended.returncode, ended.stderr) == (ExitCode.BROKEN_PIPE, b"")
    os.close(write)


@pytest.mark.parametrize(
    ("sent", "code"),
    [(signal.SIGINT, ExitCode.INTERRUPTED), (signal.SIGTERM, ExitCode.TERMINATED)],
)
def test_a_signal_ends_the_command_and_its_children(
    site: FakeSite, tmp_path: Path, sent: signal.Signals, code: int
) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    site.torch()
    site.plugin()
    site.vendor_package(f"open({str(started)!r}, 'w').close()\nimport time\ntime.sleep(600)\n")
    process = subprocess.Popen(
        [*COMMAND, "doctor", "--deep", "framework.sees"],
        env=site.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    started.read_bytes()  # returns once the child has opened it
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in out + err


def test_no_colour_without_a_terminal_and_none_under_no_color(site: FakeSite) -> None:
    assert "\x1b" not in site.run("doctor").out
    assert "\x1b[3" not in _on_a_terminal(site, NO_COLOR="1")
    assert "\x1b[3" in _on_a_terminal(site)


def _on_a_terminal(site: FakeSite, **variables: str) -> str:
    """What `accelhal devices` writes to a terminal."""
    controller, terminal = os.openpty()
    ended = subprocess.run(
        [*COMMAND, "devices"],
        stdout=terminal,
        stderr=terminal,
        env=site.environment(TERM="xterm-256color", **variables),
        timeout=120,
        check=False,
    )
    os.close(terminal)
    assert ended.returncode == 0
    with os.fdopen(controller, "rb") as reader:
        return os.read(reader.fileno(), 65536).decode()


def test_a_stream_that_cannot_show_a_character_loses_it_only(site: FakeSite) -> None:
    site.plugin("raise OSError('Gerät \\udcff fehlt')")
    ended = site.run("devices", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert ended.code == 0
    assert "fehlt" in ended.out


def test_a_plugin_cannot_swallow_the_signal_that_ends_the_command(
    site: FakeSite, tmp_path: Path
) -> None:
    opening = tmp_path / "opening"
    os.mkfifo(opening)
    wait = f"    open({str(opening)!r}, 'w').close()\n    import time\n    time.sleep(600)\n"
    available = TOY_SPEC.replace("NO_HARDWARE, 0", "AVAILABLE, 1")
    site.plugin(available.replace('    raise OSError("libtoy.so: no such file")\n', wait))
    process = subprocess.Popen(
        [*COMMAND, "bench", "--device", "toy", "--quick"],
        env=site.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    opening.read_bytes()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == ExitCode.TERMINATED
