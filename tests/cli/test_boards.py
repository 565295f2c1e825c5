"""`accelhal devices` and `accelhal topo` over a simulated driver library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from vendor_stacks.simulated_library import build

SCENARIO = """
boards 3
set 0 links 1
set 0 link_0_peer 1
set 1 mig 1
set 1 slices 1
fail 2 nvmlDeviceGetUUID 15
"""


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("boards")
    build("nvml/nvml.c", "libnvidia-ml.so.1", folder)
    scenario = folder / "scenario"
    scenario.write_text(SCENARIO)
    return {**os.environ, "LD_LIBRARY_PATH": str(folder), "SIM_SCENARIO": str(scenario)}


def run(environ: dict[str, str], *arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "accelhal", *arguments],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def test_devices_lists_what_the_driver_knows(environ: dict[str, str]) -> None:
    boards = json.loads(run(environ, "devices", "--json"))["boards"]
    assert [board["index"] for board in boards] == [0, 1, None, 2]
    assert [board["uuid"] is None for board in boards] == [False, False, False, True]
    assert boards[2]["parent"] == boards[1]["uuid"]
    assert (boards[0]["address"], boards[0]["total_memory"]) == ("0000:10:00.0", 80 << 30)
    assert boards[0]["source"] == "NVML"
    table = run(environ, "devices")
    assert "80 GiB" in table
    assert "does not answer" in table


def test_topo_says_how_near_and_what_it_does_not_know(environ: dict[str, str]) -> None:
    matrix = json.loads(run(environ, "topo", "--json"))["matrix"]
    assert matrix[0] == ["board", "link", "sys", None]
    assert matrix[1] == ["link", "board", "board", None]
    table = run(environ, "topo")
    assert "LINK  a chip-to-chip link" in table
    assert "PIX" not in table
    assert "?     neither the drivers nor the PCI bus say" in table


def test_a_host_without_boards(tmp_path: Path) -> None:
    assert "No accelerator board" in run(dict(os.environ), "topo")
