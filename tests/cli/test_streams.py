"""Standard streams that are closed, full, narrow or written to by others; a folder that is gone."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from cli.commands import COMMAND, FakeSite

from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.output import MINIMUM_WIDTH

FULL = "/dev/full"


def shell(site: FakeSite, line: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a shell line in which $ACCELHAL is the command."""
    return subprocess.run(
        ["sh", "-c", line],
        env=site.environment(ACCELHAL=" ".join(COMMAND)),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("command", ["devices", "devices --json", "doctor", "env", "--version"])
def test_a_full_disk_is_told_in_one_line(site: FakeSite, command: str) -> None:
    ended = shell(site, f"exec $ACCELHAL {command} > {FULL}")
    assert ended.returncode == ExitCode.COULD_NOT_RUN
    assert ended.stderr == "accelhal: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("closed", [">&-", "<&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["devices --json", "doctor"])
def test_a_closed_stream_loses_what_is_written_to_it_only(
    site: FakeSite, command: str, closed: str
) -> None:
    ended = shell(site, f"exec $ACCELHAL {command} {closed}")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert bool(ended.stdout) == (">&-" not in closed.replace("2>&-", ""))


@pytest.mark.parametrize("lost", ["2>&-", f"2> {FULL}"])
def test_the_exit_code_says_it_where_standard_error_cannot(site: FakeSite, lost: str) -> None:
    for command in ("doctor nosuch", "nosuch", "devices --nosuch"):
        assert shell(site, f"exec $ACCELHAL {command} {lost}").returncode == ExitCode.USAGE


@pytest.mark.parametrize("columns", ["1", "20", "30"])
def test_a_narrow_terminal_gets_lines_that_can_be_read(site: FakeSite, columns: str) -> None:
    ended = site.run("devices", COLUMNS=columns)
    assert max(map(len, ended.out.splitlines())) == MINIMUM_WIDTH
    assert "…" not in ended.out


@pytest.mark.parametrize("columns", ["0", "-5", "abc", "9" * 5000, ""])
def test_columns_that_say_nothing_are_ignored(site: FakeSite, columns: str) -> None:
    assert site.run("devices", COLUMNS=columns).out == site.run("devices").out


@pytest.mark.parametrize("command", ["devices", "doctor", "env"])
def test_what_a_plugin_prints_is_kept_out_of_the_document(site: FakeSite, command: str) -> None:
    site.plugin("print('loading toys')")
    ended = site.run(command, "--json")
    assert json.loads(ended.out)["schema"] == f"accelhal.{command}/1"
    assert "loading toys" in ended.err


def test_a_folder_that_was_deleted_stops_no_look(site: FakeSite, tmp_path: Path) -> None:
    for command, code in (
        ("devices", 0),
        ("doctor", 0),
        ("env", 0),
        ("bench --quick", ExitCode.COULD_NOT_RUN),
    ):
        gone = tmp_path / "gone"
        gone.mkdir()
        ended = shell(site, f"rmdir ../gone; exec $ACCELHAL {command}", cwd=gone)
        assert ended.returncode == code, ended.stderr
        assert "Traceback" not in ended.stderr
    assert "the current folder does not exist any more\n  next: cd to another" in ended.stderr


def test_the_deep_look_needs_no_current_folder(site: FakeSite, tmp_path: Path) -> None:
    site.torch()
    gone = tmp_path / "gone"
    gone.mkdir()
    line = "rmdir ../gone; exec $ACCELHAL doctor --deep framework.sees --json"
    findings = json.loads(shell(site, line, cwd=gone).stdout)["findings"]
    assert [finding["code"] for finding in findings if finding["device"] is None] == ["sees.loaded"]


def test_standard_error_on_a_terminal_of_no_size(site: FakeSite) -> None:
    controller, terminal = os.openpty()  # a new terminal has no columns
    ended = subprocess.run(
        [*COMMAND, "devices"], stdout=terminal, env=site.environment(), timeout=120, check=False
    )
    os.close(terminal)
    with os.fdopen(controller, "rb") as reader:
        text = os.read(reader.fileno(), 65536).decode()
    assert ended.returncode == 0
    assert max(map(len, text.splitlines())) > MINIMUM_WIDTH
