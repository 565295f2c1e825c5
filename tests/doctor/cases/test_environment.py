"""Cases of variables, shared memory and the sharing daemon; each beside a sound host."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from doctor.cases.evidence_of import boards, judged, loud, snapshot
from host_tree import HostTree

from accelhal.doctor.catalogue import catalogue
from accelhal.doctor.engine import run_checks
from accelhal.doctor.facts import Facts
from accelhal.facts import BoardReading, Finding, FindingState, ProcessMemory

FAIL, WARN, OK = FindingState.FAIL, FindingState.WARN, FindingState.OK


def live(tree: HostTree, check: str, boards_seen: tuple[BoardReading, ...] = ()) -> list[Finding]:
    facts = Facts(tree.host)
    if boards_seen:
        facts.__dict__["snapshot"] = snapshot("cuda", boards_seen)
    known = catalogue(facts.specs)
    return list(run_checks(known.select([check]), facts, texts=known.texts).findings)


# ---- env.debug


@pytest.mark.parametrize(
    ("backend", "variable", "value"),
    [
        ("cuda", "CUDA_LAUNCH_BLOCKING", "1"),
        ("cuda", "NCCL_DEBUG", "TRACE"),
        ("npu", "ASCEND_LAUNCH_BLOCKING", "1"),
        ("npu", "ASCEND_GLOBAL_LOG_LEVEL", "0"),
        ("mlu", "CNNL_GEN_CASE", "2"),
        ("mlu", "TORCH_DISTRIBUTED_DEBUG", "DETAIL"),
    ],
)
def test_variables_that_slow_every_job(backend: str, variable: str, value: str) -> None:
    shown = snapshot(backend, boards(backend, 1), variables={variable: value})
    (found,) = loud(judged(shown, "env.debug"))
    assert (found.state, found.commands) == (WARN, (f"unset {variable}",))
    (check,) = catalogue(Facts(evidence=shown).specs).select(["env.debug"])
    assert f"\n{variable} (" in check.explanation, "--explain says when to set it"


@pytest.mark.parametrize(
    "variables",
    [{}, {"CUDA_LAUNCH_BLOCKING": "0", "NCCL_DEBUG": "INFO", "TORCH_CPP_LOG_LEVEL": "ERROR"}],
)
def test_variables_that_cost_nothing(variables: dict[str, str]) -> None:
    shown = snapshot("cuda", boards("cuda", 1), variables=variables)
    assert [one.state for one in judged(shown, "env.debug")] == [OK]


# ---- env.preload


def test_a_preloaded_library_that_is_not_there(tmp_path: Path) -> None:
    tree = HostTree(tmp_path).env(LD_PRELOAD="/opt/gone.so")
    (found,) = live(tree, "env.preload")
    assert (found.state, found.commands) == (WARN, ("unset LD_PRELOAD",))
    tree.file("/opt/gone.so").file("/etc/ld.so.preload", "/opt/lost.so\n")
    (found,) = live(tree, "env.preload")
    assert found.needs_root
    assert "/etc/ld.so.preload" in found.commands[0]


def test_a_preloaded_library_that_loads_is_named(tmp_path: Path) -> None:
    tree = HostTree(tmp_path).file("/opt/here.so").env(LD_PRELOAD="/opt/here.so")
    (found,) = live(tree, "env.preload")
    assert (found.state, found.params["entries"]) == (FindingState.INFO, "/opt/here.so")


def test_what_the_loader_said_of_a_preloaded_library() -> None:
    line = "ERROR: ld.so: object 'libtoy.so' from LD_PRELOAD cannot be preloaded: ignored."
    (found,) = loud(judged(snapshot("cuda", (), messages=(line,), variables={}), "env.preload"))
    assert (found.state, found.params["entry"]) == (WARN, "libtoy.so")


# ---- env.shm


@pytest.mark.parametrize(
    ("backend", "count", "mib", "state"),
    [
        pytest.param("cuda", 8, 16, FAIL, id="NV-065"),
        pytest.param("npu", 8, 64, FAIL, id="another vendor"),
        pytest.param("mlu", 8, 768, WARN, id="less than 1 GiB for eight"),
        pytest.param("cuda", 8, 1024, OK, id="neighbour of NV-065"),
        pytest.param("cuda", 1, 16, OK, id="one board"),
    ],
)
def test_shared_memory(backend: str, count: int, mib: int, state: FindingState) -> None:
    shown = snapshot(backend, boards(backend, count), shared_memory=mib << 20)
    (found,) = judged(shown, "env.shm")
    assert found.state is state
    assert any("--shm-size" in one for one in found.commands) is (state is not OK)


# ---- env.mps

REFUSED = "CUDA error: all CUDA-capable devices are busy or unavailable"


def named(name: str, **seen: Any) -> tuple[BoardReading, ...]:
    (reading,) = boards("cuda", 1, **seen)
    return (replace(reading, board=replace(reading.board, name=name)),)


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        pytest.param("NVIDIA A16", 5, id="NV-037"),
        pytest.param("Tesla T4", 21, id="NV-037-T4"),
        pytest.param("NVIDIA A30", 30, id="NV-037-A30"),
        pytest.param("NVIDIA H100 80GB HBM3", 48, id="others"),
    ],
)
def test_clients_beyond_the_limit_of_a_board(name: str, limit: int) -> None:
    shown = snapshot(
        "cuda",
        named(name),
        variables={"CUDA_MPS_PIPE_DIRECTORY": "/mps/pipe"},
        messages=(REFUSED,),
    )
    (found,) = loud(judged(shown, "env.mps"))
    assert (found.state, found.code, found.params["limit"]) == (FAIL, "mps.refused", limit)
    assert "query-compute-apps" in found.commands[0]


def daemon(tree: HostTree, pid: int, program: str, uid: int) -> None:
    tree.file(f"/proc/{pid}/comm", program[:15] + "\n")
    tree.file(f"/proc/{pid}/cmdline", f"/usr/bin/{program}\0-d\0")
    tree.file(f"/proc/{pid}/status", f"Name:\tmps\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\n")


@pytest.mark.parametrize(
    ("own", "state"),
    [
        pytest.param(1000, FAIL, id="NV-038"),
        pytest.param(0, FindingState.INFO, id="neighbour of NV-038"),
    ],
)
def test_the_server_of_another_user(tmp_path: Path, own: int, state: FindingState) -> None:
    tree = HostTree(tmp_path)
    daemon(tree, 10, "nvidia-cuda-mps-control", 0)
    daemon(tree, 11, "nvidia-cuda-mps-server", 0)
    tree.file("/proc/self/status", f"Name:\tx\nUid:\t{own}\t{own}\t{own}\t{own}\n")
    (found,) = live(tree, "env.mps", named("NVIDIA A30", processes=()))
    assert found.state is state
    assert any("echo quit" in command for command in found.commands) is (state is FAIL)


def test_a_message_of_the_sharing_daemon() -> None:
    line = "RuntimeError: CUDA error: the MPS server is not ready to accept new MPS client requests"
    shown = snapshot("cuda", boards("cuda", 1), messages=(line,), variables={})
    (found,) = loud(judged(shown, "env.mps"))
    assert (found.state, found.code) == (FAIL, "mps.server")
    assert any("echo quit" in command for command in found.commands)


def test_a_full_board(tmp_path: Path) -> None:
    tree = HostTree(tmp_path)
    daemon(tree, 10, "nvidia-cuda-mps-control", 0)
    clients = tuple(ProcessMemory(100 + index, 1 << 20) for index in range(5))
    (found,) = live(tree, "env.mps", named("NVIDIA A16", processes=clients))
    assert (found.state, found.code) == (FAIL, "mps.full")


def test_a_variable_without_a_daemon(tmp_path: Path) -> None:
    tree = HostTree(tmp_path).env(CUDA_MPS_PIPE_DIRECTORY="/mps/pipe")
    (found,) = live(tree, "env.mps")
    assert (found.state, found.code) == (WARN, "mps.no_daemon")


def test_a_host_without_the_sharing_daemon_is_calm(tmp_path: Path) -> None:
    assert [one.state for one in live(HostTree(tmp_path), "env.mps")] == [OK]
