"""The board under a device, over torch_npu and DCMI together, for each form of the variable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from vendor_stacks.board_report import CODE, read_report
from vendor_stacks.cann.stack import CannStack

pytestmark = pytest.mark.slow

CONTAINER = "set 0 physical 2\nset 1 physical 5\nset 2 physical 7\n"
"""A container's three boards: /dev/davinci2, 5 and 7, which the driver numbers from 0."""

TWO_CHIPS = "set * chips 2\nset * board_id 0xb0\nset * chip_name Ascend910\n"
MIXED = "set 1 chip_name 910B4\n"


def report(
    stack: CannStack,
    folder: Path,
    received: str = "",
    *,
    scenario: str = CONTAINER,
    mask: str | None = None,
) -> dict[str, Any]:
    file = folder / "scenario"
    file.write_text(f"boards 3\n{scenario}")
    ended = stack.python(
        CODE.format(backend="npu", received=received),
        SIM_CANN_DEVICES="3",
        SIM_SCENARIO=str(file),
        ASCEND_RT_VISIBLE_DEVICES=mask,
    )
    return read_report(ended.stdout)


@pytest.mark.parametrize(
    ("mask", "boards"),
    [
        (None, [0, 1, 2]),
        ("1", [1]),
        ("0,2", [0, 2]),
        ("2,0", []),
        ("", []),
        ("1,9", [1]),
        ("1,1", []),
        ("1x,2", [1]),
        ("9", []),
    ],
    ids=repr,
)
def test_each_form_of_the_variable(
    cann_stack: CannStack, tmp_path: Path, mask: str | None, boards: list[int]
) -> None:
    seen = report(cann_stack, tmp_path, mask=mask)
    assert seen["boards"] == boards
    assert seen["without_torch"] == [*boards, None, None, None][:3]


@pytest.mark.parametrize("scenario", ["", TWO_CHIPS, MIXED], ids=["host", "A3", "two models"])
def test_each_set_of_boards(cann_stack: CannStack, tmp_path: Path, scenario: str) -> None:
    seen = report(cann_stack, tmp_path, scenario=scenario, mask="1,2")
    assert seen["boards"] == [1, 2]
    assert seen["without_torch"] == [1, 2, None]


def test_a_driver_that_fails_is_the_reason(cann_stack: CannStack, tmp_path: Path) -> None:
    seen = report(cann_stack, tmp_path, scenario="fail * dcmi_init -8005\n")
    assert seen["boards"] == [None] * 3
    assert all("-8005" in why for why in seen["reasons"])


def test_a_device_is_sent_to_a_process_that_sees_other_boards(
    cann_stack: CannStack, tmp_path: Path
) -> None:
    sent = report(cann_stack, tmp_path, mask="0,2")["pickled"]
    assert report(cann_stack, tmp_path, sent[1], mask=None)["bound"] == "npu:2"
    missing = report(cann_stack, tmp_path, sent[0], mask="1,2")["bound"]
    assert missing.startswith("DeviceNotFoundError")
    assert "is not visible" in missing
