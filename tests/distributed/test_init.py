"""init() in processes of its own: the group, meshes, and ranks that do not come or do not fit."""

from __future__ import annotations

import os
import signal
import socket

import pytest
from rank_pool import run_alone

from accelhal.distributed.environment import RankEnvironment
from accelhal.distributed.meeting import open_store
from accelhal.errors import AccelhalError, BackendNotFoundError, DistributedError, UsageError

LIMIT_S = 60.0
"""For ranks that come: above what starting them takes on a loaded machine."""


def sums(device: str) -> tuple[object, ...]:
    import torch
    import torch.distributed as dist

    import accelhal.distributed

    me = accelhal.distributed.init(device, timeout=LIMIT_S)
    x = torch.ones(2, device=me.device.torch_device) * (me.rank + 1)
    dist.all_reduce(x)
    two = accelhal.distributed.mesh({"dp": -1, "tp": 1})
    for sizes in ({"tp": 3}, {}, {"tp": 0}, {"tp": 2.0}, {"tp": "2"}, {"dp": -1, "tp": -1}):
        with pytest.raises(UsageError, match="does not lay out 2 ranks"):
            accelhal.distributed.mesh(sizes)
    with pytest.raises(UsageError, match=r"\[2\] names no dimensions"):
        accelhal.distributed.mesh([2])
    with pytest.raises(BackendNotFoundError, match="'nonsense'"):
        accelhal.distributed.mesh(device="nonsense")
    with pytest.raises(UsageError, match="exists already"):
        accelhal.distributed.init(device)
    accelhal.distributed.shutdown()
    accelhal.distributed.shutdown()
    return me.rank, str(me.device), me.library, x.tolist(), two.device_type, tuple(two.shape)


@pytest.mark.parametrize(
    ("device", "devices"), [("cpu", ("cpu:0", "cpu:0")), ("mock", ("mock:0", "mock:1"))]
)
def test_two_ranks_meet_and_compute(device: str, devices: tuple[str, str]) -> None:
    assert [ended.answer for ended in run_alone(sums, 2, device)] == [
        (rank, name, "gloo", [3.0, 3.0], device, (2, 1)) for rank, name in enumerate(devices)
    ]


def refused(*devices: str, timeout: float = LIMIT_S) -> tuple[str, str]:
    import accelhal.distributed

    rank = int(os.environ["RANK"])
    try:
        accelhal.distributed.init(devices[rank % len(devices)], timeout=timeout)
    except AccelhalError as error:
        return type(error).__name__, str(error)
    raise AssertionError("not refused")


def refused_soon(*devices: str) -> tuple[str, str]:
    return refused(*devices, timeout=2)


def test_ranks_that_never_come_are_named() -> None:
    (first,) = run_alone(refused_soon, 3, "cpu", ranks=[0])
    kind, text = first.answer
    assert kind == "DistributedError"
    assert "rank 0 waited for the others: ranks 1-2 of 3 did not come within 2 s" in text


def test_a_store_that_nobody_holds_is_named() -> None:
    (ended,) = run_alone(refused_soon, 2, "cpu", ranks=[1])
    assert "rank 1 found no store at 127.0.0.1:" in ended.answer[1]
    assert "rank 0 or its launcher did not start" in ended.answer[1]


def test_a_port_in_use_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(DistributedError, match=f"port {port} is in use"):
            open_store(RankEnvironment(0, 2, 0, "127.0.0.1", port), 5)


def test_ranks_on_different_backends_all_learn_it() -> None:
    for ended in run_alone(refused, 2, "cpu", "mock"):
        assert "rank 0 on cpu (gloo); rank 1 on mock (gloo)" in ended.answer[1]


def test_two_ranks_on_one_board_all_learn_it() -> None:
    for ended in run_alone(refused, 2, "mock:0"):
        assert "ranks 0-1 are on one board" in ended.answer[1]


def test_a_host_with_fewer_devices_than_ranks_says_so() -> None:
    (ended,) = run_alone(refused_soon, 4, "mock", ranks=[3], ACCELHAL_MOCK="count=2")
    assert ended.answer[0] == "DeviceNotFoundError"
    assert "local rank 3 has no device: mock has 2" in ended.answer[1]


def test_a_process_that_nobody_launched_says_how_to(monkeypatch: pytest.MonkeyPatch) -> None:
    import accelhal.distributed

    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(UsageError, match=r"RANK(.|\n)*accelhal launch"):
        accelhal.distributed.init("cpu")


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), "5", None, True])
def test_a_timeout_that_is_none_is_refused(timeout: object) -> None:
    import accelhal.distributed

    with pytest.raises(UsageError, match="s is none"):
        accelhal.distributed.init("cpu", timeout=timeout)


def loses_rank_2(backward: bool) -> tuple[str, str]:
    import torch

    import accelhal.distributed
    from accelhal.parallel import ColumnParallelLinear, RowParallelLinear

    me = accelhal.distributed.init("cpu", timeout=30)
    row, column = RowParallelLinear(6, 4), ColumnParallelLinear(4, 6)
    x = torch.ones(2, 2)
    row(x)
    if me.rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        if backward:
            column(torch.ones(2, 4, requires_grad=True)).sum().backward()
        else:
            row(x)
    except DistributedError as error:
        return str(error), me.device.classify_error(error).label
    raise AssertionError("nothing was noticed")


@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
def test_a_rank_that_dies_in_a_collective_ends_the_others(backward: bool) -> None:
    *others, dead = run_alone(loses_rank_2, 3, backward)
    assert dead.code == -signal.SIGKILL
    for rank, ended in enumerate(others):
        text, kind = ended.answer
        assert f"all_reduce over ranks 0-2 failed on rank {rank}" in text
        assert "a rank died, hangs" in text
        assert kind == "communication"
