"""`accelhal doctor --from`: the checks over files judge as they judge the host that wrote them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cli.commands import FakeSite
from click.testing import CliRunner, Result
from vendor_stacks.simulated_library import build

from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.main import cli

LIVE_ALONE = {"framework.autoload"}
"""Checks of which a snapshot holds nothing."""

DMESG = "[   81.345678] NVRM: Xid (PCI:0000:01:00): 79, pid=7, GPU has fallen off the bus.\n"
JOURNAL = "Mar 04 10:11:12 quartz17 kernel: " + DMESG.partition("] ")[2]
VARIABLES = "USER=evelyn\nHOSTNAME=quartz17\nCUDA_LAUNCH_BLOCKING=1\nLD_PRELOAD=/home/evelyn/a.so\n"

SCENARIOS = {
    "healthy": "boards 2\n",
    "sick": "boards 3\nset 0 temperature 97\nset 1 mig 1\nset 1 slices 2\n"
    "fail 2 nvmlDeviceGetUUID 15\n",
}

REFUSED = "raise OSError('libtoy.so: no such file')"


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["doctor", *map(str, arguments)])


def write(folder: Path, **texts: str) -> list[Path]:
    paths = [folder / f"{name}.txt" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text)
    return paths


def states(result: Result) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for finding in json.loads(result.stdout)["findings"]:
        found.setdefault(finding["id"], set()).add(finding["state"])
    return found


def judged(document: Mapping[str, Any]) -> dict[tuple[str, str | None], set[tuple[str, str]]]:
    """Check and device -> states, with the codes of what is loud."""
    found: dict[tuple[str, str | None], set[tuple[str, str]]] = {}
    for one in document["findings"]:
        if one["id"] not in LIVE_ALONE:
            loud = one["state"] in ("warn", "fail")
            told = (one["state"], one["code"] if loud else "")
            found.setdefault((one["id"], one["device"]), set()).add(told)
    return found


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nvml")
    build("nvml/nvml.c", "libnvidia-ml.so.1", folder)
    return folder


def both(
    site: FakeSite, folder: Path, **variables: str
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The documents of a live run, and of one over the snapshot taken next to it."""
    path = str(folder / "x.json")
    assert site.run("snapshot", path, **variables).code == 0
    live = site.run("doctor", "--json", **variables)
    again = site.run("doctor", "--from", path, "--json")
    assert again.code == live.code
    return live.document, again.document


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_a_snapshot_of_a_drivers_boards_is_judged_as_they_are(
    site: FakeSite, tmp_path: Path, library: Path, scenario: str
) -> None:
    site.torch()
    (tmp_path / "scenario").write_text(scenario)
    simulated = {"LD_LIBRARY_PATH": str(library), "SIM_SCENARIO": str(tmp_path / "scenario")}
    live, again = both(site, tmp_path, **simulated)
    assert judged(again) == judged(live)


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"ACCELHAL_DEVICE": "toy:0"},
        {"ACCELHAL_DEVICE": "mock:99"},
        {"ACCELHAL_DEVICE": "absent:0"},
        {"ACCELHAL_BACKENDS": "mock,absent"},
        {"CUDA_LAUNCH_BLOCKING": "1", "CUDA_VISIBLE_DEVICES": "0,0"},
    ],
    ids=str,
)
def test_a_snapshot_of_simulated_boards_and_of_a_plugin_that_does_not_load(
    site: FakeSite, tmp_path: Path, variables: dict[str, str]
) -> None:
    site.torch()
    site.plugin(REFUSED)
    live, again = both(site, tmp_path, **variables)
    assert judged(again) == judged(live)


def test_any_mix_of_files_is_one_host(tmp_path: Path) -> None:
    paths = write(tmp_path, a=DMESG, b=VARIABLES)
    found = states(invoke("--json", "--from", *paths))
    assert found["hw.xid"] == {"fail"}
    assert found["env.debug"] == {"warn"}
    assert invoke("--from", *paths).exit_code == ExitCode.FAILURE


def test_what_the_files_do_not_show_is_unknown_and_never_this_machines(
    tmp_path: Path, site: FakeSite
) -> None:
    site.plugin(REFUSED)
    (path,) = write(tmp_path, a=DMESG + "\nACCELHAL_DEVICE=toy:0\n")
    ended = site.run("doctor", "plugin.load", "backend.probe", "--json", "--from", str(path))
    assert {f["state"] for f in ended.document["findings"]} == {"unknown"}
    (own,) = site.run("doctor", "env.accelhal", "--json", "--from", str(path)).document["findings"]
    assert own["state"] == "unknown"


def test_names_in_captured_text_are_not_passed_on(tmp_path: Path) -> None:
    paths = write(tmp_path, a=JOURNAL, b=VARIABLES)
    for form in ("--json", "--markdown"):
        shown = invoke(form, "-v", "--from", *paths).stdout
        assert "quartz17" not in shown
        assert "evelyn" not in shown
    assert "/home/evelyn/a.so" in invoke("--no-redact", "--json", "--from", *paths).stdout


@pytest.mark.parametrize("option", ["--deep", "--measure", "--watch=1", "--force"])
def test_nothing_is_done_on_this_host(tmp_path: Path, option: str) -> None:
    (path,) = write(tmp_path, a=DMESG)
    result = invoke(option, "--from", path)
    assert result.exit_code == ExitCode.USAGE
    assert "leave them out" in result.stderr


def test_a_file_of_nothing_known_is_refused_in_words(tmp_path: Path) -> None:
    (path,) = write(tmp_path, a="lorem ipsum\n")
    result = invoke("--from", path)
    assert result.exit_code == ExitCode.USAGE
    assert "nothing in" in result.stderr
