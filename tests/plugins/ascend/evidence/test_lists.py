"""`npu-smi info -l`, `-m` and `npu-smi -v`."""

from __future__ import annotations

import pytest
from accelhal_ascend.evidence import READERS
from captured_samples import npu_smi
from captured_samples.reading import only, refusal

from accelhal.facts import BoardKey


def test_the_mapping_tells_the_drivers_numbers_and_leaves_controllers_out() -> None:
    found = only(READERS, npu_smi.MAPPING).boards
    assert [(b.board.tool_id, b.board.index) for b in found] == [("0.0", 0), ("4.0", 1)]
    assert {b.board.name for b in found} == {"910B9"}
    assert found[1].board.key == BoardKey("npu", "logic-id", "1")


def test_the_mapping_of_a3_tells_the_files_too() -> None:
    found = only(READERS, npu_smi.A3_MAPPING).boards
    assert [(b.board.tool_id, b.board.index) for b in found] == [("6.0", 0), ("6.1", 1)]
    assert [b.details and b.details.node for b in found] == [12, 13]


def test_the_mapping_of_the_950_has_the_drivers_numbers_alone() -> None:
    found = only(READERS, npu_smi.A950_MAPPING).boards
    assert [(b.board.index, b.details and b.details.node) for b in found] == [(0, 8), (1, 9)]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("\n	0  ", "\n	x  ", "it lists no chips"),
        (
            "	4                              0                              1   ",
            "	0 0 1 ",
            "one",
        ),
        (
            "	4                              0                              1   ",
            "	4 0 0 ",
            "one",
        ),
        (
            "	4                              0                              1   ",
            "	4 0 - ",
            "read",
        ),
    ],
)
def test_a_damaged_mapping_is_refused(old: str, new: str, reason: str) -> None:
    assert reason in refusal(READERS, npu_smi.MAPPING.replace(old, new, 1))


def test_the_list_names_the_chips_of_each_card() -> None:
    found = only(READERS, npu_smi.LISTING).boards
    assert [(b.board.tool_id, b.board.serial) for b in found] == [
        ("4.0", "000111222333"),
        ("4.1", "000111222333"),
        ("6.0", None),
    ]


def test_the_list_of_a_950_and_of_a_910_server_is_shorter() -> None:
    text = "	Total Count                    : 1\n\n	NPU ID                         : 0\n\n"
    (board,) = only(READERS, text).boards
    assert board.board.tool_id == "0.0"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("Total Count                    : 2", "Total Count : 3", "it lists 2 of 3 cards"),
        ("Total Count                    : 2", "Total Count : x", "cannot be read"),
        ("NPU ID                         : 4", "NPU ID : y", "cannot be read"),
        ("Chip Count                     : 2", "Chip Count : 99", "cannot be read"),
    ],
)
def test_a_damaged_list_is_refused(old: str, new: str, reason: str) -> None:
    assert reason in refusal(READERS, npu_smi.LISTING.replace(old, new))


def test_the_tools_version() -> None:
    found = only(READERS, npu_smi.VERSION)
    assert (found.versions, found.boards) == ({"tool": "99.1.rc1"}, ())


@pytest.mark.parametrize("text", ["", " NA", " 1.2 and more"])
def test_no_version(text: str) -> None:
    assert "no version" in refusal(READERS, f"npu-smi version:{text}")
