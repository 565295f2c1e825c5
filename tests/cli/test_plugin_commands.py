"""Commands that plugins bring: listed without an import, loaded when called, never in our way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cli.commands import FakeSite
from evidence import toy_tool

from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.main import cli
from accelhal.cli.plugin_commands import command_context
from accelhal.errors import UsageError
from accelhal.registry import register

COMMAND = """
import click

@click.command()
@click.argument("file")
@click.pass_obj
def toy(context, file):
    \"\"\"Count boards.\"\"\"
    for one in context.read_evidence([file]):
        click.echo(f"{one.backend} {len(one.boards)}")
"""

Bring = Callable[..., None]


@pytest.fixture
def bring(site: FakeSite, install_plugin: Callable[..., Path]) -> Bring:
    """Install a distribution that brings `accelhal <name>`."""

    def bring(code: str = COMMAND, name: str = "toy", distribution: str = "accelhal-toys") -> None:
        module = distribution.replace("-", "_")
        points = f"[accelhal.commands]\n{name} = {module}:toy\n"
        folder = install_plugin(distribution, code=code, entry_points=points, module=module)
        site.path.append(str(folder))

    return bring


def test_it_is_listed_without_being_imported(site: FakeSite, bring: Bring) -> None:
    bring("raise OSError('imported')")
    ended = site.run("--help")
    assert (ended.code, ended.err) == (0, "")
    assert "toy   Brought by accelhal-toys 1.0." in ended.out


def test_it_runs_and_its_errors_end_like_ours(site: FakeSite, bring: Bring, tmp_path: Path) -> None:
    bring()
    assert "Count boards." in site.run("toy", "--help").out
    ended = site.run("toy", str(tmp_path / "absent"))
    assert ended.code == ExitCode.USAGE
    assert "there is no such file" in ended.err


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise OSError('libtoy.so')", "`accelhal toy` of accelhal-toys 1.0 raised OSError"),
        ("exit(3)", "raised SystemExit"),
        ("toy = 3", "is a int, no click command"),
        ("", "no attribute 'toy'"),
    ],
)
def test_one_that_does_not_load_costs_only_itself(
    site: FakeSite, bring: Bring, code: str, words: str
) -> None:
    bring(code)
    ended = site.run("toy")
    assert ended.code == ExitCode.COULD_NOT_RUN
    assert words in ended.err
    assert "pip uninstall accelhal-toys" in ended.err
    assert site.run("devices").code == 0


def test_our_own_names_are_not_taken(site: FakeSite, bring: Bring) -> None:
    bring("raise OSError('imported')", name="devices")
    assert site.run("devices").code == 0
    assert "Brought by accelhal-toys" not in site.run("--help").out


def test_two_that_bring_one_name_are_both_named(site: FakeSite, bring: Bring) -> None:
    bring()
    bring(distribution="other-toys")
    ended = site.run("toy", "x")
    assert ended.code == ExitCode.COULD_NOT_RUN
    assert "accelhal-toys 1.0" in ended.err
    assert "other-toys 1.0" in ended.err


def test_an_unknown_command_is_still_wrong_usage() -> None:
    from click.testing import CliRunner

    assert CliRunner().invoke(cli, ["nonsense"]).exit_code == ExitCode.USAGE


@pytest.mark.usefixtures("fresh_registry")
def test_files_are_read_for_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("of today\n" + toy_tool.page(*toy_tool.rows(0, 1)))
    with register(toy_tool.toy_backend()):
        (evidence,) = command_context().read_evidence([str(path)])
        with pytest.raises(UsageError):
            command_context().read_evidence([str(tmp_path)])
    assert len(evidence.boards) == 2
    assert "'of today'" in capsys.readouterr().err
