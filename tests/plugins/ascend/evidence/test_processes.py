"""The table of processes alone, as it is pasted without that of the chips."""

from __future__ import annotations

import pytest
from accelhal_ascend.evidence import READERS
from captured_samples import npu_smi
from captured_samples.reading import only, refusal

from accelhal.facts import ProcessMemory

ALONE = npu_smi.A3[npu_smi.A3.index("| NPU     Chip") :]


def test_each_chip_has_its_processes() -> None:
    found = only(READERS, ALONE)
    held = {board.board.tool_id: board.processes for board in found.boards}
    assert held == {"6.0": (), "6.1": (ProcessMemory(10001, 7746 << 20),)}


def test_memory_that_is_no_figure_is_unknown() -> None:
    found = only(READERS, ALONE.replace("7746", "NA  "))
    assert found.boards[1].processes == (ProcessMemory(10001, None),)


def test_ids_within_a_container_are_not_taken_for_the_hosts() -> None:
    alone = npu_smi.WIDE[npu_smi.WIDE.index("| NPU     Chip") :]
    found = only(READERS, alone)
    assert found.boards[0].processes == (ProcessMemory(20002, 512 << 20),)
    assert found.notes == ("npu-smi info also shows Process id in container.",)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("10001", "-1   ", "numbers cannot be read"),
        ("10001", "0    ", "numbers cannot be read"),
        ("| 6       1 ", "| 6         ", "numbers cannot be read"),
        ("7746                    |", "7746", "cut off"),
        ("Process name", "Process nome", "headings that are not known"),
    ],
)
def test_a_damaged_table_is_refused(old: str, new: str, reason: str) -> None:
    assert reason in refusal(READERS, ALONE.replace(old, new, 1))


def test_a_table_without_its_last_frame_is_cut_off() -> None:
    assert "cut off" in refusal(READERS, "\n".join(ALONE.splitlines()[:-1]))
