"""The commands that make and remove a vNPU name card and chip, not the driver's number."""

from __future__ import annotations

from accelhal_ascend.management import DcmiManagement
from vendor_stacks.dcmi.simulated import (
    A3,
    A5,
    dcmi as dcmi,
    key,
    library as library,
    tree as tree,
)
from vendor_stacks.simulated_library import SetScenario, scenario as scenario


def test_the_command_that_makes_one(dcmi: DcmiManagement, scenario: SetScenario) -> None:
    scenario(f"boards 4\n{A3}")
    assert dcmi.partition_commands(key(3), "vir05_1c_16g").lines == (
        "sudo npu-smi set -t create-vnpu -i 2 -c 1 -f vir05_1c_16g",
    )
    (line,) = dcmi.partition_commands(key(0), "a b").lines
    assert line.endswith("-i 0 -c 0 -f 'a b'")


def test_the_command_that_removes_one(dcmi: DcmiManagement, scenario: SetScenario) -> None:
    scenario("boards 2\nset 1 vnpus 1\n")
    (part,) = dcmi.partitions(key(1))
    number = part.key.value.removeprefix("vdavinci")
    assert dcmi.removal_commands(part.key).lines == (
        f"sudo npu-smi set -t destroy-vnpu -i 2 -c 0 -v {number}",
    )
    assert dcmi.removal_commands(key(1)).lines == ()


def test_what_was_not_found_is_not_made_up(dcmi: DcmiManagement, scenario: SetScenario) -> None:
    scenario(f"boards 1\n{A5}")
    found = DcmiManagement().partition_commands(key(0), "vir04")
    assert found.lines == ()
    assert "not known here" in found.notes[0]
