"""Cases of boards that wait, and of memory that ran out; each beside a sound host."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from doctor.cases.evidence_of import boards, judged, loud, snapshot

from accelhal.cli.evidence_option import collect
from accelhal.facts import FindingState, PcieLink, ProcessMemory, Telemetry

GIB = 1 << 30
USED = (ProcessMemory(4711, 10 * GIB),)


def telemetry(busy: float, watts: float, limit: float, **more: Any) -> Telemetry:
    return Telemetry(utilization=busy, power=watts, power_limit=limit, **more)


@pytest.mark.parametrize(
    ("seen", "state", "confidence"),
    [
        pytest.param(
            {
                "telemetry": telemetry(99, 68, 450, memory_bandwidth_utilization=0),
                "pcie": PcieLink(received=0.0, sent=0.0),
            },
            FindingState.FAIL,
            "likely",
            id="NV-021",
        ),
        pytest.param(
            {"telemetry": telemetry(100, 44, 250)}, FindingState.WARN, "possible", id="NV-022"
        ),
        pytest.param(
            {"telemetry": telemetry(100, 90, 400), "pcie": PcieLink(received=0.0, sent=0.0)},
            FindingState.WARN,
            "possible",
            id="memory-not-read",
        ),
    ],
)
def test_a_board_that_waits_for_a_peer(
    seen: dict[str, Any], state: FindingState, confidence: str
) -> None:
    busy = boards("cuda", 2, processes=USED, **seen)
    rest = boards("cuda", 3, processes=(), telemetry=telemetry(0, 25, 250))[2:]
    found = judged(snapshot("cuda", (*busy, *rest)), "perf.spin")
    assert [(f.state, f.device, f.confidence) for f in found] == [
        (state, "cuda board 0", confidence),
        (state, "cuda board 1", confidence),
    ]
    commands = found[0].commands
    assert commands[0] == "py-spy dump --pid 4711"
    assert "NCCL_P2P_DISABLE=1 <command>" in commands


OLD_TABLE = """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 384.145                Driver Version: 384.145                   |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  Tesla V100-PCIE...  On   | 00000000:3B:00.0 Off |                    0 |
| N/A   40C    P0    45W / 250W |    850MiB / 16152MiB |    100%      Default |
+-------------------------------+----------------------+----------------------+
|   1  Tesla V100-PCIE...  On   | 00000000:5E:00.0 Off |                    0 |
| N/A   36C    P0    27W / 250W |    850MiB / 16152MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+

+-----------------------------------------------------------------------------+
| Processes:                                                       GPU Memory |
|  GPU       PID   Type   Process name                             Usage      |
|=============================================================================|
|    0      2501      C   ./all_reduce                                 840MiB |
|    1      2502      C   ./all_reduce                                 840MiB |
+-----------------------------------------------------------------------------+
"""


def test_a_captured_table_shows_which_board_waits(tmp_path: Path) -> None:
    table = tmp_path / "table.txt"
    table.write_text(OLD_TABLE, encoding="utf-8")
    (finding,) = judged(collect([str(table)]).snapshot, "perf.spin")
    assert (finding.device, finding.state) == ("cuda board 0", FindingState.WARN)
    assert finding.params["percent"] == 18
    assert finding.commands[0] == "py-spy dump --pid 2501"


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param({"telemetry": telemetry(0, 25, 250), "processes": USED}, id="at-rest"),
        pytest.param({"telemetry": telemetry(100, 240, 250), "processes": USED}, id="at-work"),
        pytest.param({"telemetry": telemetry(12, 40, 250), "processes": USED}, id="little-traffic"),
        pytest.param({"telemetry": telemetry(100, 44, 250), "processes": ()}, id="nobody-on-it"),
        pytest.param(
            {
                "telemetry": telemetry(100, 70, 250, memory_bandwidth_utilization=40),
                "processes": USED,
            },
            id="small-kernels-that-move-data",
        ),
        pytest.param(
            {
                "telemetry": telemetry(100, 70, 250),
                "pcie": PcieLink(received=3e9, sent=1e6),
                "processes": USED,
            },
            id="copies",
        ),
        pytest.param({"telemetry": Telemetry(), "processes": USED}, id="nothing-read"),
    ],
)
def test_boards_that_do_not_wait(seen: dict[str, Any]) -> None:
    found = judged(snapshot("cuda", boards("cuda", 1, **seen)), "perf.spin")
    assert [finding.state for finding in found] == [FindingState.OK]


EXPORTED = 'DCGM_FI_PROF_SM_OCCUPANCY{{gpu="0",UUID="GPU-1",modelName="Board"}} {}'


@pytest.mark.parametrize(
    ("share", "busy", "watts", "code", "state"),
    [
        pytest.param("0.231", 99, 90, "occupancy.low", FindingState.WARN, id="small-blocks"),
        pytest.param("0.25", 99, 240, "occupancy.other_work", FindingState.INFO, id="a-product"),
        pytest.param("0.25", 20, 60, "occupancy.other_work", FindingState.INFO, id="it-waits"),
        pytest.param("0.75", 99, 240, "occupancy.high", FindingState.OK, id="full"),
    ],
)
def test_threads_matter_where_a_busy_board_does_little(
    share: str, busy: float, watts: float, code: str, state: FindingState
) -> None:
    seen = boards("cuda", 2, telemetry=telemetry(busy, watts, 250), processes=USED)
    lines = ("epoch 3", EXPORTED.format(share))
    (finding,) = judged(snapshot("cuda", seen, messages=lines), "perf.occupancy")
    assert (finding.code, finding.state, finding.device) == (code, state, "cuda board 0")


SPLIT = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 22.78 GiB. GPU 0 has a total "
    "capacity of 31.47 GiB of which 18.66 GiB is free. Including non-PyTorch memory, this process "
    "has 12.80 GiB memory in use. Of the allocated memory 4.69 GiB is allocated by PyTorch, and "
    "7.82 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large "
    "try setting PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
)
OLD_SPLIT = (
    "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 3; 60.97 GiB total capacity; "
    "20.50 GiB already allocated; 20.50 GiB current active; 1.20 GiB free; 48.00 GiB reserved in "
    "total by PyTorch)"
)


@pytest.mark.parametrize(
    ("message", "backend", "words", "command"),
    [
        pytest.param(
            SPLIT,
            "cuda",
            {"request": "22.8 GiB", "free": "18.7 GiB", "unused": "7.8 GiB"},
            "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
            id="NV-067",
        ),
        pytest.param(
            OLD_SPLIT,
            "npu",
            {"request": "2.0 GiB", "free": "1.2 GiB", "unused": "27.5 GiB", "place": "npu:3"},
            "export PYTORCH_NPU_ALLOC_CONF=expandable_segments:True",
            id="older-words-another-vendor",
        ),
    ],
)
def test_memory_in_pieces(message: str, backend: str, words: dict[str, str], command: str) -> None:
    found = judged(snapshot(backend, (), messages=(message,)), "memory.fragment", "memory.oom")
    (finding,) = loud(found)
    assert (finding.check, finding.state) == ("memory.fragment", FindingState.WARN)
    assert finding.device == backend
    assert words.items() <= finding.params.items()
    assert finding.commands == (command,)


FULL = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total "
    "capacity of 15.77 GiB of which 1.06 GiB is free. Including non-PyTorch memory, this process "
    "has 14.70 GiB memory in use. Of the allocated memory 14.20 GiB is allocated by PyTorch, and "
    "120.00 MiB is reserved by PyTorch but unallocated."
)
SHARED = FULL.replace("Including", "Process 815 has 9.00 GiB memory in use. Including")
CAPPED = FULL.replace("1.06 GiB is free", "9.06 GiB is free").replace(
    "Of the allocated", "4.00 GiB allowed; Of the allocated"
)


@pytest.mark.parametrize(
    ("message", "memory", "code", "command"),
    [
        (FULL, 16 * GIB, "oom.full", "accelhal bench"),
        (FULL, 80 * GIB, "oom.window", "accelhal devices"),
        (SHARED, 16 * GIB, "oom.others", "ps -o pid,user,etime,args -p 815"),
        (CAPPED, 16 * GIB, "oom.capped", "grep -rn set_per_process_memory_fraction"),
    ],
)
def test_memory_that_is_simply_too_little(
    message: str, memory: int, code: str, command: str
) -> None:
    seen = [replace(r, board=replace(r.board, total_memory=memory)) for r in boards("cuda", 2)]
    found = judged(snapshot("cuda", seen, messages=(message,)), "memory.fragment", "memory.oom")
    (finding,) = loud(found)
    assert (finding.check, finding.code, finding.state) == ("memory.oom", code, FindingState.FAIL)
    assert finding.commands[0].startswith(command)


def test_programs_that_did_not_run_out_of_memory_say_nothing() -> None:
    lines = ("epoch 3: loss 0.12", "watch out of memory.", "oom_score_adj 0")
    found = judged(snapshot("cuda", (), messages=lines), "memory.fragment", "memory.oom")
    assert {finding.state for finding in found} == {FindingState.OK}
