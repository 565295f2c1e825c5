"""A process ends up on its board's CPUs, with every thread, and says what was not done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from topology.pci_tree import board, pci_host

from accelhal.errors import DeviceError, UsageError
from accelhal.topology.binding import bind

ALLOWED = sorted(os.sched_getaffinity(0))

CHILD = """
import json, os, sys, threading
from pathlib import Path
from accelhal.facts import BoardInfo
from accelhal.host import Host
from accelhal.topology.binding import bind

stop = threading.Event()
other = threading.Thread(target=stop.wait)
other.start()
try:
    board = BoardInfo(None, "Toy Works", "Toy", None, "toy", pci="0000:01:00.0")
    found = bind(board, memory=sys.argv[2] or None, host=Host(root=Path(sys.argv[1])))
    tasks = [sorted(os.sched_getaffinity(int(task))) for task in os.listdir("/proc/self/task")]
finally:
    stop.set()
    other.join()
print(json.dumps({"found": vars(found), "tasks": tasks}))
"""


def bound(root: Path, memory: str = "") -> dict[str, Any]:
    """What `bind` did in a process with two threads."""
    command = [sys.executable, "-c", CHILD, str(root), memory]
    done = subprocess.run(command, check=True, capture_output=True, timeout=60)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def tree(root: Path, node: int, cpulist: str) -> Path:
    pci_host(root, {"0000:01:00.0": ("pci0000:00/0000:00:01.0", node)})
    folder = root / f"sys/devices/system/node/node{node}"
    folder.mkdir(parents=True)
    (folder / "cpulist").write_text(cpulist + "\n")
    return root


def test_every_thread_is_bound_within_what_is_allowed(tmp_path: Path) -> None:
    mine = ALLOWED[-1]
    seen = bound(tree(tmp_path, 0, f"{mine},{max(ALLOWED) + 7}"))
    assert seen["found"] == {
        "node": 0,
        "cpus": [mine],
        "threads": 2,
        "memory": None,
        "notes": [],
    }
    assert seen["tasks"] == [[mine], [mine]]


def test_memory_follows_or_says_why_not(tmp_path: Path) -> None:
    found = bound(tree(tmp_path, 0, str(ALLOWED[0])), "preferred")["found"]
    assert (found["memory"] == "preferred") != any("memory" in note for note in found["notes"])


def test_a_node_that_does_not_exist_leaves_memory_alone(tmp_path: Path) -> None:
    found = bound(tree(tmp_path, 900, str(ALLOWED[0])), "bind")["found"]
    assert found["memory"] is None
    assert any("set_mempolicy" in note for note in found["notes"])


def test_a_node_outside_the_allowed_cpus(tmp_path: Path) -> None:
    seen = bound(tree(tmp_path, 3, str(max(ALLOWED) + 7)))
    assert seen["found"]["cpus"] == []
    assert "may use no CPU of node 3" in seen["found"]["notes"][0]
    assert seen["tasks"] == [ALLOWED, ALLOWED]


def test_an_unknown_node_is_said(tmp_path: Path) -> None:
    host = pci_host(tmp_path, {"0000:01:00.0": ("pci0000:00/0000:00:01.0", -1)})
    found = bind(board("0000:01:00.0"), host=host)
    assert found.node is None
    assert "no NUMA node" in found.notes[0]
    assert sorted(os.sched_getaffinity(0)) == ALLOWED
    with pytest.raises(DeviceError, match="no NUMA node"):
        bind(board("0000:01:00.0"), host=host, strict=True)


def test_a_policy_that_does_not_exist() -> None:
    with pytest.raises(UsageError, match="interleave"):
        bind(board(None), memory="interleave")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="choice of CPUs 'socket'"):
        bind(board(None), "socket")  # type: ignore[arg-type]
