"""`accelhal bind`: a real command, run near a board, with its own exit code, signals and output."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from cli.commands import Ended, FakeSite
from cli.toy_boards import TOY_BOARDS

from accelhal.host import Host
from accelhal.host.cpu_list import parse_cpu_list

ALLOWED = os.sched_getaffinity(0)
NODE_0 = set(parse_cpu_list(Host().read_text("/sys/devices/system/node/node0/cpulist") or ""))
NEAR = ("bind", "--device", "toy:0", "--")
CHILDREN = """
import os
try:
    print(os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print("none")
"""
AFFINITY = "import os; print(*sorted(os.sched_getaffinity(0)))"


@pytest.fixture
def toys(site: FakeSite) -> FakeSite:
    """Two boards of a plugin, and no torch: nothing here needs it."""
    site.plugin(TOY_BOARDS)
    site.without_torch()
    return site


def cpus(ended: Ended) -> set[int]:
    assert ended.code == 0, ended.err
    return set(map(int, ended.out.split()))


def test_the_command_s_exit_code_and_output_are_its_own(toys: FakeSite) -> None:
    ended = toys.run(*NEAR, "sh", "-c", "echo out; exit 7")
    assert (ended.code, ended.out) == (7, "out\n")
    assert ended.err.startswith("accelhal: bind: toy:0 (Toy One, 0000:aa:00.0): ")
    assert ended.err.count("\n") == 1


def test_the_command_dies_of_its_own_signal(toys: FakeSite) -> None:
    ended = toys.run(*NEAR, "sh", "-c", "kill -TERM $$")
    assert ended.code == -signal.SIGTERM


@pytest.mark.skipif(not NODE_0 & ALLOWED, reason="this host shows no NUMA node 0 that is allowed")
def test_the_command_runs_on_the_board_s_cpus(toys: FakeSite) -> None:
    program = ("--", sys.executable, "-c", AFFINITY)
    assert cpus(toys.run("bind", "--device", "toy:0", *program)) == NODE_0 & ALLOWED
    alone = toys.run("bind", "--device", "toy:0", "--cpus", "none", "--memory", "none", *program)
    assert cpus(alone) == ALLOWED
    assert "NUMA node 0, CPUs left alone, memory left alone" in alone.err


@pytest.mark.parametrize("name", ["TOY-0", "toy-0", "aa:00.0", "00000000:AA:00.0"])
def test_a_board_by_uuid_or_address(toys: FakeSite, name: str) -> None:
    ended = toys.run("bind", "--board", name, "--", "true")
    assert ended.code == 0
    assert f"{name} (Toy One, 0000:aa:00.0)" in ended.err


def test_an_unknown_board_is_an_error(toys: FakeSite) -> None:
    ended = toys.run("bind", "--board", "TOY-7", "--", "echo", "ran")
    assert (ended.code, ended.out) == (3, "")
    assert "'TOY-7'" in ended.err
    assert "accelhal devices --json" in ended.err


def test_an_unknown_node_is_said_and_the_command_runs(toys: FakeSite) -> None:
    ended = toys.run("bind", "--device", "toy:1", "--", sys.executable, "-c", AFFINITY)
    assert cpus(ended) == ALLOWED
    assert "knows no NUMA node" in ended.err


@pytest.mark.parametrize("device", ["toy:1", "toy:9"])
def test_strict_runs_nothing_that_is_not_bound(toys: FakeSite, device: str) -> None:
    ended = toys.run("bind", "--device", device, "--strict", "--", "echo", "ran")
    assert (ended.code, ended.out) == (3, "")
    assert "nothing is bound" in ended.err


def test_a_device_whose_board_is_not_known_runs_unbound(toys: FakeSite) -> None:
    ended = toys.run("bind", "--device", "toy:9", "--", "echo", "ran")
    assert (ended.code, ended.out) == (0, "ran\n")
    assert "there is no toy 9" in ended.err


def test_a_command_that_is_not_there(toys: FakeSite) -> None:
    ended = toys.run(*NEAR, "no-such-command")
    assert ended.code == 127
    assert ended.err == "accelhal: bind: no-such-command: command not found\n"


def test_a_command_that_cannot_be_executed(toys: FakeSite, tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_text("no program\n")
    assert toys.run(*NEAR, str(file)).code == 126
    file.write_bytes(b"\0\0\0\0")
    file.chmod(0o755)
    ended = toys.run(*NEAR, str(file))
    assert (ended.code, ended.err.splitlines()[-1]) == (
        126,
        f"accelhal: bind: {file}: Exec format error",
    )


def test_options_after_the_command_are_its_own(toys: FakeSite) -> None:
    ended = toys.run("bind", "--device", "toy:0", "echo", "--json", "--device", "x", "--", "y")
    assert ended.out == "--json --device x -- y\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--", "true"], "--device or --board"),
        (["--device", "toy:0", "--board", "TOY-0", "true"], "--device or --board"),
        (["--device", "toy:0"], "COMMAND"),
        (["--device", "toy:0", "--json", "--", "true"], "--dry-run"),
        (["--devcie", "toy:0", "--", "true"], "--devcie"),
        (["--device", "TOY 0", "--", "true"], "is not a device name"),
        (["--device", "toy:0", "--cpus", "socket", "--", "true"], "socket"),
    ],
)
def test_wrong_usage(toys: FakeSite, arguments: list[str], says: str) -> None:
    ended = toys.run("bind", *arguments)
    assert ended.code == 4
    assert says in ended.err


def test_a_dry_run_says_what_would_be_done(toys: FakeSite) -> None:
    ended = toys.run("bind", "--device", "toy:1", "--dry-run", "--json", "--", "echo", "ran")
    assert ended.code == 0
    document = ended.document
    assert document.pop("notes")[0].startswith("the kernel knows no NUMA node")
    assert document == {
        "schema": "accelhal.bind/1",
        "named": "toy:1",
        "board": {"name": "Toy One", "uuid": "TOY-1", "address": None},
        "node": None,
        "cpus": [],
        "memory": None,
    }
    shown = toys.run("bind", "--device", "toy:0", "--dry-run", "--memory", "bind")
    assert (shown.code, shown.out) == (0, "")
    assert "memory bind" in shown.err


def test_the_command_inherits_no_child(toys: FakeSite) -> None:
    """A driver process would be a child that the command never started."""
    ended = toys.run(*NEAR, sys.executable, "-c", CHILDREN)
    assert ended.out == "none\n"


def test_the_command_inherits_no_ignored_signal(toys: FakeSite) -> None:
    """Python ignores SIGPIPE, and what it executes would go on doing so."""
    ended = toys.run(*NEAR, "grep", "SigIgn", "/proc/self/status")
    assert not int(ended.out.split()[1], 16) & 1 << signal.SIGPIPE - 1


def test_where_the_variables_do_not_tell_torch_does_in_another_process(site: FakeSite) -> None:
    """The simulated boards are there only once they are opened."""
    ended = site.run("bind", "--device", "mock:0", "--dry-run", "--json", ACCELHAL_MOCK="count=1")
    assert ended.code == 0, ended.err
    assert ended.document["board"]["uuid"]
    beyond = site.run("bind", "--device", "mock:7", "--dry-run", ACCELHAL_MOCK="count=1")
    assert beyond.code == 3
    assert "mock:7 does not exist" in beyond.err
