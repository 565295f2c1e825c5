"""The mock backend as accelhal sees it: by name, from the environment, in plain mode."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from accelhal_mock import installation
from accelhal_mock.spec import SPEC

import accelhal
from accelhal.facts import ProbeStatus
from accelhal.host import Host


@pytest.fixture(autouse=True)
def _preserved():
    with installation.preserved():
        installation.uninstall()
        yield


def probe(**environ):
    return SPEC.probe(Host(environ=environ))


def test_the_probe_says_that_it_simulates_and_how():
    found = probe(ACCELHAL_MOCK="count=4,profile=h100,mode=plain")
    assert found.status is ProbeStatus.AVAILABLE
    assert found.count == 4
    assert found.reason == "simulated: h100, no hardware"
    assert found.evidence["mode"] == "plain: ACCELHAL_MOCK asks for it"


def test_the_probe_counts_two_where_nothing_is_said():
    assert probe().count == 2


def test_the_probe_shows_what_is_installed():
    installation.install(count=3, mode="plain")
    found = probe(ACCELHAL_MOCK="count=4")
    assert found.count == 3
    assert found.evidence["mode"] == "plain: asked for"


@pytest.mark.parametrize(
    ("variable", "text"), [("ACCELHAL_MOCK", "cuont=1"), ("ACCELHAL_MOCK_FAULTS", "lots")]
)
def test_the_probe_says_what_is_wrong_with_the_environment(variable, text):
    found = probe(**{variable: text})
    assert found.status is ProbeStatus.INCOMPATIBLE
    assert variable in found.reason
    assert "did you mean" in found.hint


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("library_missing", ProbeStatus.NO_DRIVER),
        ("library_broken", ProbeStatus.LIBRARY_BROKEN),
        ("permission_denied", ProbeStatus.NO_DRIVER),
    ],
)
def test_the_probe_meets_a_broken_driver_library(fault, status):
    assert probe(ACCELHAL_MOCK_FAULTS=fault).status is status


def test_it_is_never_chosen_by_itself():
    assert SPEC.simulated
    assert SPEC.priority < 0


PROGRAM = """
import json, warnings
import accelhal
device = accelhal.device("mock:1")
stream, event = device.Stream(), device.Event(enable_timing=True)
with device.stream(stream):
    inside = device.current_stream() == stream
import accelhal_mock
accelhal_mock.inject("lost", device=1)
try:
    device.synchronize()
    lost = "no error"
except accelhal.DeviceLostError as error:
    lost = str(error)
health, properties, board = device.health(), device.properties, device.board
accelhal_mock.install(count=4, mode="plain")
print(json.dumps({
    "name": str(device), "simulated": device.simulated, "torch": str(device.torch_device),
    "product": properties.name, "memory": properties.total_memory,
    "inside": inside, "outside": device.current_stream() == device.default_stream(),
    "lost": lost, "health": health.status.value, "board": board.pci,
    "listed": [board.name for board in accelhal.boards() if board.simulated],
    "count": len(accelhal.devices("mock")),
    "automatic": str(accelhal.device()),
}))
"""


def test_a_device_by_name_installs_itself_from_the_environment():
    environ = {
        **os.environ,
        "ACCELHAL_MOCK": "count=2,profile=h100,memory=64MiB,mode=plain",
        "PYTHONWARNINGS": "ignore",
    }
    environ.pop("ACCELHAL_DEVICE", None)
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert said["name"] == "mock:1"
    assert said["simulated"] is True
    assert said["torch"] == "cpu"
    assert said["product"] == "NVIDIA H100 80GB HBM3"
    assert said["memory"] == 64 << 20
    assert said["inside"] is True
    assert said["outside"] is True
    assert "fallen off the bus" in said["lost"]
    assert said["health"] == "failed"
    assert said["board"] == "0000:11:00.0"
    assert len(said["listed"]) == said["count"] == 4
    assert not said["automatic"].startswith("mock")


def test_a_mode_that_changes_under_an_open_runtime_is_said():
    script = (
        "import accelhal, accelhal_mock\n"
        "device = accelhal.device('mock:0')\n"
        "accelhal_mock.install(mode='python')\n"
        "try:\n"
        "    accelhal.device('mock:0')\n"
        "except accelhal.UsageError as error:\n"
        "    print(error)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "ACCELHAL_MOCK": "mode=plain"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "opened the simulated boards in plain mode" in ran.stdout
    assert "now installed in python mode" in ran.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("memory=lots", "memory"),
        ("count=17", "1 to 16"),
        ("count=-1", "1 to 16"),
        ("profile=abacus", "profile"),
        ("hazards=loud", "hazards"),
    ],
)
def test_a_wrong_variable_is_said_before_anything_opens(text, words):
    probe = SPEC.probe(Host(environ={"ACCELHAL_MOCK": text}))
    assert probe.status is ProbeStatus.INCOMPATIBLE
    assert words in probe.reason
    assert probe.hint


def test_boards_come_back_by_themselves_after_a_test_that_had_its_own(mock_boards):
    with installation.preserved():
        (board,) = mock_boards(count=1)
        assert accelhal.device(board).index == 0
    assert accelhal.device("mock:1").index == 1
