"""`accelhal snapshot`: one file, whole, private details taken out, that --from reads again."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import accelhal_mock
import pytest
from accelhal_mock.installation import preserved
from cli.commands import FakeSite
from click.testing import CliRunner, Result
from vendor_stacks.simulated_library import build

import accelhal
from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.main import cli


@pytest.fixture(autouse=True)
def boards() -> Iterator[None]:
    """Three simulated boards in use."""
    with preserved():
        accelhal_mock.install(count=3)
        accelhal.device("mock:0")
        yield


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_the_file_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    result = invoke("snapshot", path)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "3 boards (mock 3), host and environment" in result.stderr
    assert "private details are taken out" in result.stderr
    assert list(tmp_path.iterdir()) == [path]
    shown = invoke("devices", "--from", path, "--json")
    assert shown.exit_code == 0
    document = json.loads(shown.stdout)
    assert len(document["boards"]) == 3
    assert document["boards"][0]["uuid"] == "<uuid-1>"
    assert document["evidence"]["redacted"]


def test_standard_output() -> None:
    result = invoke("snapshot", "-")
    assert json.loads(result.stdout)["schema"] == "accelhal.snapshot/1"


def test_real_identities_are_kept_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    result = invoke("snapshot", "--no-redact", path)
    assert "do not share it" in result.stderr
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    shown = json.loads(invoke("devices", "--from", path, "--json").stdout)
    (first, *_) = (b for b in accelhal.boards() if b.backend == "mock")
    assert shown["boards"][0]["uuid"] == first.uuid


def test_a_shared_file_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        invoke("snapshot", tmp_path / "s.json")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "s.json").stat().st_mode) == 0o640


def test_an_existing_file_is_overwritten_by_force_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text("mine")
    result = invoke("snapshot", path)
    assert result.exit_code == ExitCode.USAGE
    assert "it exists\n  next: --force overwrites it" in result.stderr
    assert path.read_text() == "mine"
    assert invoke("snapshot", "--force", path).exit_code == 0
    assert path.read_text().startswith("{")


@pytest.mark.parametrize(
    ("path", "reason"),
    [("", "is a folder"), ("absent/s.json", "does not exist"), ("pipe", "is no regular file")],
)
def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, path: str, reason: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    result = invoke("snapshot", tmp_path / path)
    assert result.exit_code == ExitCode.USAGE
    assert reason in result.stderr


def test_a_name_that_is_too_long_is_told(tmp_path: Path) -> None:
    result = invoke("snapshot", tmp_path / ("s" * 300))
    assert result.exit_code == ExitCode.COULD_NOT_RUN
    assert "File name too long\n  next: " in result.stderr


def test_a_folder_in_which_nothing_can_be_made_is_told() -> None:
    result = invoke("snapshot", "/proc/s.json")
    assert result.exit_code == ExitCode.COULD_NOT_RUN
    assert "cannot be written to /proc/s.json" in result.stderr


def test_nothing_private_of_host_and_environment_is_in_it(site: FakeSite) -> None:
    site.plugin("raise OSError('/home/evelyn/lib on crunch17 at 10.1.2.3')")
    ended = site.run(
        "snapshot",
        "-",
        USER="evelyn",
        HOME="/home/evelyn",
        HOSTNAME="crunch17.lab",
        LD_LIBRARY_PATH="/home/evelyn/lib",
        TOYMAKER_TOKEN="sesame",
    )
    assert ended.code == 0
    assert ended.document["environment"]["variables"]["LD_LIBRARY_PATH"] == "~/lib"
    for private in ("evelyn", "crunch17", "10.1.2.3", "sesame"):
        assert private not in ended.out


def test_no_identity_of_a_drivers_boards_survives_and_their_matrix_does(
    site: FakeSite, tmp_path: Path
) -> None:
    build("nvml/nvml.c", "libnvidia-ml.so.1", tmp_path)
    scenario = tmp_path / "scenario"
    scenario.write_text(
        "boards 4\nset 0 links 1\nset 0 link_0_peer 1\nset 1 mig 1\nset 1 slices 2\n"
    )
    simulated = {"LD_LIBRARY_PATH": str(tmp_path), "SIM_SCENARIO": str(scenario)}

    def boards(form: str) -> tuple[str, list[dict[str, Any]], list[list[str]]]:
        path = str(tmp_path / f"{form}.json")
        assert site.run("snapshot", form, path, **simulated).code == 0
        shown = site.run("devices", "--from", path, "--json").document["boards"]
        return (
            Path(path).read_text(),
            shown,
            site.run("topo", "--from", path, "--json").document["matrix"],
        )

    _, real, matrix = boards("--no-redact")
    text, shared, again = boards("--force")
    assert len(real) == 6
    private = {b[name] for b in real for name in ("uuid", "serial", "parent")} - {None}
    assert len(private) >= 6
    for identity in private:
        assert identity not in text
        assert identity.rpartition("-")[2] not in text
    assert again == matrix
    assert matrix[0][1] == "link"
    seen = ("temperature", "power", "memory_used", "health", "address")
    assert [[b[n] for n in seen] for b in shared] == [[b[n] for n in seen] for b in real]


def test_it_takes_no_torch(site: FakeSite) -> None:
    site.without_torch()
    assert site.run("snapshot", "-").code == 0
