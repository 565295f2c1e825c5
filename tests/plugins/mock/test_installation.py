"""Installing, configuring and taking away simulated boards, and the environment's say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import accelhal_mock
import pytest
from accelhal_mock import installation
from accelhal_mock.environment import settings_from_environment
from accelhal_mock.mode import choose_mode
from accelhal_mock.profiles import profile_names
from accelhal_mock.simulation.faults.catalogue import make_fault
from accelhal_mock.spec import SPEC
from hypothesis import given, strategies as st

from accelhal.errors import UsageError
from accelhal.host import Host


@pytest.fixture(autouse=True)
def _preserved():
    with installation.preserved():
        installation.uninstall()
        yield


def plain(**settings):
    return accelhal_mock.install(mode="plain", **settings).machine


def test_boards_are_installed_configured_anew_and_taken_away():
    assert accelhal_mock.installed() is None
    machine = plain(count=4, memory="64MiB")
    assert [board.memory.capacity for board in machine.boards] == [64 << 20] * 4
    assert plain(count=3) is machine
    assert len(accelhal_mock.machine().boards) == 3
    assert machine.board(0).memory.capacity == 80 << 30
    accelhal_mock.uninstall()
    assert accelhal_mock.installed() is None
    assert installation.board_count("plain") == 0


def test_boards_of_one_machine_may_differ():
    machine = plain(profile=["h100", "a100-80g", {**OWN, "name": "slow"}])
    assert [board.profile.name for board in machine.boards] == ["h100", "a100-80g", "slow"]
    with pytest.raises(UsageError, match="count is 2, but 3 profiles"):
        plain(count=2, profile=["h100", "h100", "h100"])


OWN = {"name": "mine", "memory": "1GiB", "bandwidth": 1e9, "peak_rates": {"float32": 1e9}}


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"count": 0}, "count must be 1 to 16"),
        ({"count": 17}, "count must be 1 to 16"),
        ({"count": "two"}, "count must be a whole number"),
        ({"memory": 0}, "memory=0 is not an amount"),
        ({"memory": "64 lots"}, "memory='64 lots' is not an amount"),
        ({"profile": "b100"}, "no profile 'b100'"),
        ({"mode": "native"}, 'mode must be "python" or "plain"'),
        ({"clock": "fast"}, "clock must be"),
        ({"hazards": True}, "hazards must be"),
        ({"faults": "melted"}, "no fault 'melted'"),
        ({"faults": "lost@3"}, "device must be below 2"),
    ],
)
def test_a_wrong_argument_is_named_and_leaves_what_was_installed(settings, says):
    machine = plain()
    boards = machine.boards
    with pytest.raises(UsageError, match=says) as caught:
        accelhal_mock.install(**{"mode": "plain", **settings})
    assert caught.value.hint
    assert accelhal_mock.machine().boards is boards


def test_faults_are_injected_and_cleared_by_name():
    machine = plain(faults="slow@1:factor=4")
    assert accelhal_mock.inject("lost", device=1, after=0) == make_fault("lost", 1)
    with pytest.raises(RuntimeError, match="GPU is lost"):
        machine.board(1).synchronize()
    accelhal_mock.clear(1)
    machine.board(1).synchronize()
    with pytest.raises(UsageError, match="no fault 'lots'"):
        accelhal_mock.inject("lots")
    with pytest.raises(UsageError, match="below 2"):
        accelhal_mock.inject("lost", device=7)


def test_nothing_installed_is_said():
    for call in (accelhal_mock.machine, accelhal_mock.clear, lambda: accelhal_mock.inject("lost")):
        with pytest.raises(UsageError, match=r"no simulated boards(?s:.*)install\(\)"):
            call()


def test_time_passes_on_demand():
    machine = plain()
    accelhal_mock.advance(2.5)
    assert machine.clock.now() == 2.5


def test_what_was_installed_is_put_back_as_new():
    machine = plain(count=3, memory="64MiB")
    machine.inject(make_fault("lost", 0))
    with installation.preserved():
        plain(count=1)
    assert len(machine.boards) == 3
    machine.board(0).synchronize()
    assert machine.board(0).memory.capacity == 64 << 20


# ---- the environment


def test_the_environment_installs():
    settings = settings_from_environment(
        {
            "ACCELHAL_MOCK": "count=4, profile=h100, memory=64MiB, hazards=raise, watchdog=2.5",
            "ACCELHAL_MOCK_FAULTS": "lost@1:after=10;slow@0:factor=3",
        }
    )
    assert settings == {
        "count": 4,
        "profile": "h100",
        "memory": "64MiB",
        "hazards": "raise",
        "watchdog": 2.5,
        "faults": (make_fault("lost", 1, after=10), make_fault("slow", 0, factor=3)),
    }
    machine = plain(**settings)
    assert len(machine.boards) == 4


def test_an_empty_environment_asks_for_nothing():
    assert settings_from_environment({}) == {}
    assert settings_from_environment({"ACCELHAL_MOCK": " , ", "ACCELHAL_MOCK_FAULTS": ";"}) == {}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("count", "'count' is not field=value"),
        ("count=", "'count=' is not field=value"),
        ("cuont=3", "no field 'cuont'(?s:.*)did you mean 'count'"),
        ("count=many", "count='many' is not a number"),
        ("count=1,count=2", "'count' stands twice"),
    ],
)
def test_a_wrong_variable_is_named(text, says):
    with pytest.raises(UsageError, match=f"ACCELHAL_MOCK=.*{says}"):
        settings_from_environment({"ACCELHAL_MOCK": text})


def test_a_wrong_fault_variable_is_named():
    with pytest.raises(UsageError, match=r"ACCELHAL_MOCK_FAULTS='lots': there is no fault"):
        settings_from_environment({"ACCELHAL_MOCK_FAULTS": "lots"})


@pytest.mark.parametrize(
    ("boards", "faults"), [("count=99", ""), ("memory=0", ""), ("count=1", "lost@9")]
)
def test_a_wrong_setting_is_said_with_its_variable(boards, faults, monkeypatch, tmp_path):
    environ = {"ACCELHAL_MOCK": boards, "ACCELHAL_MOCK_FAULTS": faults}
    for variable, text in environ.items():
        monkeypatch.setenv(variable, text)
    with pytest.raises(UsageError) as raised:
        installation.install_from_environment()
    assert raised.value.message.startswith(f"ACCELHAL_MOCK='{boards}'")
    probe = SPEC.probe(Host(environ=environ))
    assert probe.reason == raised.value.message


@given(
    count=st.integers(1, 16),
    profile=st.sampled_from(profile_names()),
    memory=st.integers(1, 2**40),
    spaces=st.text(alphabet=" ", max_size=3),
)
def test_written_settings_are_read_back(count, profile, memory, spaces):
    text = f"count{spaces}={count},{spaces}profile={profile}{spaces},memory={memory}"
    assert settings_from_environment({"ACCELHAL_MOCK": text}) == {
        "count": count,
        "profile": profile,
        "memory": str(memory),
    }


# ---- the mode


def host_with_torch(root: Path, version: str, build: str = "") -> Host:
    package = root / "torch"
    package.mkdir()
    (package / "version.py").write_text(f"__version__ = {version!r}\n{build}\n")
    environ = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    return Host(root, environ, lambda name: package if name == "torch" else None)


@pytest.mark.parametrize(
    ("version", "build", "node", "mode", "says"),
    [
        ("2.13.0+cpu", "", False, "python", "has room"),
        ("2.10.0", "", False, "python", "has room"),
        ("2.9.1", "", False, "plain", "torch 2.9.1 is older than 2.10"),
        ("2.13.0+cu130", "cuda = '13.0'", False, "python", "has room"),
        ("2.13.0+cu130", "cuda = '13.0'", True, "plain", "the host has CUDA boards"),
        ("2.13.0+cpu", "", True, "python", "has room"),
    ],
)
def test_the_mode_follows_torch_and_the_host(tmp_path, version, build, node, mode, says):
    host = host_with_torch(tmp_path, version, build)
    if node:
        (tmp_path / "dev").mkdir()
        (tmp_path / "dev" / "nvidiactl").touch()
    choice = choose_mode(host)
    assert choice.mode == mode
    assert says in choice.reason


def test_without_torch_the_mode_is_plain(tmp_path):
    choice = choose_mode(Host(tmp_path, {}, lambda name: None))
    assert (choice.mode, choice.reason) == ("plain", "torch is not installed")


def test_the_place_for_outside_devices_decides(tmp_path, monkeypatch):
    monkeypatch.setattr("accelhal_mock.mode.privateuse1_owner", lambda: "npu")
    monkeypatch.setattr("accelhal_mock.installation.privateuse1_owner", lambda: "npu")
    choice = choose_mode(host_with_torch(tmp_path, "2.13.0"))
    assert choice.mode == "plain"
    assert "npu holds" in choice.reason
    assert choose_mode(host_with_torch_again(tmp_path), "npu").mode == "python"
    with pytest.raises(UsageError, match=r"npu holds torch's one place(?s:.*)mode=\"plain\""):
        accelhal_mock.install(mode="python")


def host_with_torch_again(root: Path) -> Host:
    environ = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    return Host(root, environ, lambda name: root / "torch" if name == "torch" else None)


def test_importing_and_simulating_take_no_torch():
    script = (
        "import sys, accelhal_mock, accelhal_mock.spec, accelhal_mock.pytest_plugin\n"
        "from accelhal.host import Host\n"
        "accelhal_mock.spec.SPEC.probe(Host())\n"
        "machine = accelhal_mock.install(mode='plain').machine\n"
        "machine.board(0).default_stream.launch('kernel', 1.0)\n"
        "machine.board(0).memory.allocate(512)\n"
        "accelhal_mock.inject('slow')\n"
        "machine.board(0).synchronize()\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("profile", None),
        ("profile", 5),
        ("profile", []),
        ("faults", None),
        ("faults", ["lost"]),
        ("watchdog", "soon"),
        ("name", None),
        ("name", 3),
    ],
)
def test_an_argument_of_the_wrong_kind_is_named(field, value):
    with pytest.raises(UsageError, match=field):
        accelhal_mock.install(mode="plain", **{field: value})


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), "1"])
def test_time_advances_by_a_number_from_zero_up(seconds):
    accelhal_mock.install(mode="plain")
    with pytest.raises(UsageError, match="seconds"):
        accelhal_mock.advance(seconds)
