"""Cases of masks, lost and held boards, slices and uneven load; each beside a sound host."""

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
from accelhal.doctor.imports import OpenJob, OpenReport
from accelhal.evidence.environment import BusBoard, Environment
from accelhal.facts import (
    BoardDetails,
    BoardKey,
    BoardReading,
    FindingState,
    HostFacts,
    Partition,
    ProcessMemory,
    Telemetry,
)
from accelhal.host.worker_daemons import worker_environments
from accelhal.spi.doctor import Cost

FAIL, WARN, INFO, OK = FindingState.FAIL, FindingState.WARN, FindingState.INFO, FindingState.OK
CONTAINER = HostFacts("Linux", "6.8", "x86_64", "3.11", None, 8, None, None, "container")
GIB = 1 << 30


# ---- device.mask


def davinci(*numbers: int) -> dict[str, bool]:
    return {f"/dev/davinci{number}": True for number in numbers}


def test_a_mask_that_counts_as_the_host_does() -> None:
    """AS-088: ids count inside the container."""
    shown = snapshot("npu", (), nodes=davinci(4, 5), variables={"ASCEND_RT_VISIBLE_DEVICES": "4"})
    (found,) = judged(replace(shown, host=CONTAINER), "device.mask")
    assert (found.state, found.code, found.params["last"]) == (FAIL, "mask.out_of_range", 1)
    assert found.commands == ("unset ASCEND_RT_VISIBLE_DEVICES",)


@pytest.mark.parametrize(
    ("backend", "message"),
    [
        pytest.param("npu", "aclrtSetDevice failed, error code is 107001", id="AS-088"),
        pytest.param("cuda", "CUDA error: invalid device ordinal", id="NV-069"),
    ],
)
def test_messages_of_a_device_that_is_not_there(backend: str, message: str) -> None:
    shown = snapshot(backend, boards(backend, 1), variables={}, messages=(message,))
    (found,) = loud(judged(shown, "device.mask"))
    assert found.state is FAIL
    assert any("VISIBLE_DEVICES" in command for command in found.commands)


@pytest.mark.parametrize("number", ["107001", "507008", "507033", "207019", "-8005"])
@pytest.mark.parametrize(
    "line",
    [
        "[12.5] Out of memory: Killed process {} (python) total-vm:1kB",
        "[12.5] usb 1-3: new device number {}",
        "2026-01-01 INFO step {} loss 0.1",
        "error in process {}",
    ],
)
def test_a_number_that_no_line_calls_an_error_is_none(number: str, line: str) -> None:
    shown = snapshot("npu", boards("npu", 1), variables={}, messages=(line.format(number),))
    for check in ("device.mask", "device.busy", "driver.userlib", "driver.toolkit"):
        assert not [one for one in loud(judged(shown, check)) if "message" in one.evidence]


def test_a_right_mask_in_a_container_is_calm() -> None:
    shown = snapshot("npu", (), nodes=davinci(4, 5), variables={"ASCEND_RT_VISIBLE_DEVICES": "0,1"})
    assert [one.state for one in judged(replace(shown, host=CONTAINER), "device.mask")] == [INFO]


@pytest.mark.parametrize(
    ("theirs", "code"),
    [
        pytest.param({"CUDA_VISIBLE_DEVICES": "0"}, "mask.differs", id="NV-069"),
        pytest.param({}, "mask.differs", id="NV-069-unset"),
        pytest.param({"CUDA_VISIBLE_DEVICES": "2,3"}, "mask.shows", id="neighbour of NV-069"),
    ],
)
def test_the_mask_of_a_daemon_that_starts_workers(theirs: dict[str, str], code: str) -> None:
    shown = snapshot(
        "cuda",
        boards("cuda", 4),
        variables={"CUDA_VISIBLE_DEVICES": "2,3"},
        worker_variables={"raylet 77": theirs},
    )
    found = judged(shown, "device.mask")
    assert code in {one.code for one in found}
    assert bool(loud(found)) is (code == "mask.differs")
    if loud(found):
        assert "ray stop" in loud(found)[0].commands


def test_daemons_are_found_with_their_variables(tmp_path: Path) -> None:
    tree = HostTree(tmp_path).file("/proc/77/comm", "raylet\n").file("/proc/78/comm", "bash\n")
    tree.file("/proc/77/environ", "HOME=/root\0TOY_VISIBLE_DEVICES=1\0")
    names = {"TOY_VISIBLE_DEVICES"}
    assert worker_environments(tree.host, names) == {"raylet 77": {"TOY_VISIBLE_DEVICES": "1"}}
    tree.file("/proc/self/status", "Name:\tx\nPPid:\t77\n")
    assert not worker_environments(tree.host, names), "it set this process's variables itself"


# ---- device.count


def on_bus(vendor: str, count: int, backend: str) -> Environment:
    return Environment(
        boards=tuple(
            BusBoard(f"0000:{index + 1:02x}:00.0", "Vendor", f"{vendor}:1234", "drv", None, backend)
            for index in range(count)
        )
    )


@pytest.mark.parametrize(
    ("backend", "vendor"),
    [
        pytest.param("cuda", "10de", id="NV-059"),
        pytest.param("npu", "19e5", id="another vendor"),
    ],
)
def test_a_board_that_the_driver_does_not_list(backend: str, vendor: str) -> None:
    shown = replace(snapshot(backend, boards(backend, 3)), environment=on_bus(vendor, 4, backend))
    (found,) = loud(judged(shown, "device.count"))
    assert (found.state, found.code) == (FAIL, "count.fewer")
    assert (found.params["expected"], found.params["count"]) == (4, 3)
    assert found.params["lost"] == "0000:04:00.0"
    assert "dmesg" in found.commands[0]


def test_as_many_boards_on_every_layer() -> None:
    shown = replace(snapshot("cuda", boards("cuda", 4)), environment=on_bus("10de", 4, "cuda"))
    assert [one.state for one in judged(shown, "device.count")] == [OK]


def test_a_container_has_the_boards_that_it_was_given() -> None:
    shown = replace(
        snapshot("cuda", boards("cuda", 1)),
        environment=on_bus("10de", 8, "cuda"),
        host=CONTAINER,
    )
    assert not loud(judged(shown, "device.count"))


@pytest.mark.parametrize(
    ("seen", "record", "code"),
    [
        pytest.param((), {}, "count.nothing_shown", id="AS-098"),
        pytest.param(boards("npu", 2), {"nodes": {}}, "count.layers", id="AS-098-boards"),
    ],
)
def test_no_guidance_from_the_framework(
    seen: tuple[BoardReading, ...], record: dict[str, Any], code: str
) -> None:
    message = "ValueError: local_world_size (8) must not be larger than visible devices (0)"
    shown = snapshot("npu", seen, messages=(message,), variables={}, **record)
    (found,) = judged(shown, "device.count")
    assert (found.state, found.code) == (INFO, code)
    assert any("/dev/davinci" in command for command in found.commands)
    assert "env | grep VISIBLE" in found.commands


# ---- device.partition

SLICES = tuple(
    Partition(BoardKey("cuda", "uuid", f"MIG-{n}"), BoardKey("cuda", "uuid", "GPU-1"), "1g.10gb")
    for n in range(2)
)


def cut(slices: tuple[Partition, ...] | None = SLICES) -> tuple[BoardReading, ...]:
    (reading,) = boards("cuda", 1, details=BoardDetails(partitioned=True), partitions=slices)
    return (replace(reading, board=replace(reading.board, uuid="GPU-1")),)


@pytest.mark.parametrize(
    ("seen", "mask", "state", "code", "command"),
    [
        pytest.param(
            cut(),
            "MIG-0,MIG-1",
            WARN,
            "partition.several",
            "CUDA_VISIBLE_DEVICES=MIG-0 <command>",
            id="NV-036",
        ),
        pytest.param(
            cut(()),
            None,
            FAIL,
            "partition.no_slice",
            "sudo nvidia-smi mig -i 0 -lgip",
            id="on without a slice",
        ),
        pytest.param(
            cut(),
            "GPU-1",
            WARN,
            "partition.parent",
            "export CUDA_VISIBLE_DEVICES=MIG-0",
            id="the whole board",
        ),
        pytest.param(cut(), "MIG-1", OK, "partition.cut", None, id="neighbour of NV-036"),
        pytest.param(boards("cuda", 2), "0,1", OK, "partition.whole", None, id="whole boards"),
    ],
)
def test_slices(
    seen: tuple[BoardReading, ...],
    mask: str | None,
    state: FindingState,
    code: str,
    command: str | None,
) -> None:
    variables = {} if mask is None else {"CUDA_VISIBLE_DEVICES": mask}
    (found,) = judged(snapshot("cuda", seen, variables=variables), "device.partition")
    assert (found.state, found.code) == (state, code)
    assert (found.commands[0] if found.commands else None) == command


def test_one_slice_in_the_mask_is_known_to_it() -> None:
    shown = snapshot("cuda", cut(), variables={"CUDA_VISIBLE_DEVICES": "MIG-1"})
    assert not loud(judged(shown, "device.mask"))
    wrong = snapshot("cuda", cut(), variables={"CUDA_VISIBLE_DEVICES": "MIG-7"})
    (found,) = judged(wrong, "device.mask")
    assert (found.state, found.code) == (FAIL, "mask.unknown")


# ---- device.busy


@pytest.mark.parametrize(
    ("message", "command"),
    [
        pytest.param("dcmi module initialize failed. ret is -8005", "npu-smi info", id="AS-091"),
        pytest.param("ret is -8020: the device is used", "docker ps", id="AS-093"),
    ],
)
def test_a_device_that_another_container_holds(message: str, command: str) -> None:
    shown = replace(
        snapshot("npu", (), nodes=davinci(0), messages=(message,), variables={}), host=CONTAINER
    )
    (found,) = loud(judged(shown, "device.busy"))
    assert (found.state, found.code) == (FAIL, "said.in_use")
    assert any(command in one for one in found.commands)


@pytest.mark.parametrize(
    ("mode", "processes", "state"),
    [
        ("exclusive_process", (ProcessMemory(7, GIB),), WARN),
        ("exclusive_process", (), OK),
        ("prohibited", (), FAIL),
        ("default", (ProcessMemory(7, GIB),), INFO),
    ],
)
def test_modes_of_boards(
    mode: str, processes: tuple[ProcessMemory, ...], state: FindingState
) -> None:
    seen = boards("cuda", 1, details=BoardDetails(compute_mode=mode), processes=processes)
    (found,) = judged(snapshot("cuda", seen), "device.busy")
    assert found.state is state
    if processes and state is WARN:
        assert found.commands[0] == "ps -o pid,user,etime,comm -p 7"


# ---- device.balance


def loaded(backend: str, *counts: int, used: int = 20 * GIB) -> tuple[BoardReading, ...]:
    return tuple(
        replace(
            reading,
            board=replace(reading.board, total_memory=48 * GIB),
            processes=tuple(ProcessMemory(100 + one, used // count) for one in range(count)),
            telemetry=Telemetry(utilization=0.0),
        )
        for reading, count in zip(boards(backend, len(counts)), counts, strict=True)
    )


def test_all_work_on_one_board() -> None:
    """CB-105: all pods land on the last card."""
    (found,) = judged(
        snapshot("mlu", loaded("mlu", 0, 0, 0, 0, 0, 0, 0, 6), variables={}), "device.balance"
    )
    assert (found.state, found.code, found.params["idle"]) == (WARN, "balance.crowded", 7)
    assert found.params["boards"] == "mlu board 7"
    assert "cnmon" in found.commands


@pytest.mark.parametrize(
    "seen",
    [
        loaded("mlu", 0, 0, 0, 0),
        loaded("mlu", 1, 1, 1, 1),
        loaded("mlu", 0, 0, 0, 1),
        loaded("cuda", 2, 0, 0, 0, used=GIB // 8),
        loaded("cuda", 6),
    ],
    ids=["neighbour of CB-105", "all in use", "one job", "a desktop", "one board"],
)
def test_load_that_is_as_it_should_be(seen: tuple[BoardReading, ...]) -> None:
    (found,) = judged(snapshot(str(seen[0].board.backend), seen), "device.balance")
    assert found.state is OK


# ---- device.open


def test_devices_that_do_not_open(tmp_path: Path) -> None:
    facts = Facts(HostTree(tmp_path).host)
    report = OpenReport(OpenJob("torch_npu", "npu", 4), (0, 2), {1: "error code is 507033"}, 1)
    facts.__dict__["opened"] = (report,)  # what the children would have answered
    known = catalogue(facts.specs)
    checks = known.select(["device.open"])
    found = run_checks(checks, facts, scene=set(Cost), texts=known.texts).findings
    assert [one.state for one in found] == [OK, FAIL, FindingState.UNKNOWN]
    assert found[1].params["index"] == 1
    assert "npu-smi info" in found[1].commands


def test_a_message_of_a_device_that_does_not_start(tmp_path: Path) -> None:
    """AS-080; only lines of programs show it without opening."""
    line = "aclrtSetDevice failed, error code is 507033; E30006"
    facts = Facts(evidence=snapshot("npu", boards("npu", 1), messages=(line,)))
    facts.__dict__["opened"] = ()
    known = catalogue(facts.specs)
    checks = known.select(["device.open"])
    found = run_checks(checks, facts, scene=set(Cost), texts=known.texts).findings
    (said,) = loud(found)
    assert (said.state, said.code) == (FAIL, "said.not_started")
    assert any("version.info" in command for command in said.commands)
    assert any("reset" in command for command in said.commands)
    assert said.disturbs
