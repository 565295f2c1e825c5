"""`nvidia-smi -L`, `--version`, and what stands in the place of output for a lost board."""

from __future__ import annotations

import pytest
from accelhal_cuda.evidence import READERS
from captured_samples.nvidia_smi import (
    FIRST,
    FIRST_SLICE,
    LISTING,
    LOST,
    SECOND,
    SECOND_SLICE,
    VERSIONS,
)
from captured_samples.reading import only, read, refusal

from accelhal.facts import BoardKey, HealthStatus


def test_boards_and_slices() -> None:
    one, first, second, other = only(READERS, LISTING).boards
    assert [reading.board.index for reading in (one, first, second, other)] == [0, 0, 1, 1]
    assert [reading.board.uuid for reading in (one, other)] == [FIRST, SECOND]
    assert first.board.name == "Toy H9 80GB MIG 3g.40gb"
    assert first.board.parent == second.board.parent == one.board.key
    assert one.partitions is not None
    assert [part.profile for part in one.partitions] == ["3g.40gb", "1c.2g.20gb"]
    assert one.partitions[1].environment == {"CUDA_VISIBLE_DEVICES": SECOND_SLICE}
    assert one.partitions[1].key == second.board.key == BoardKey("cuda", "uuid", SECOND_SLICE)
    assert other.partitions is None


def test_slices_of_releases_450_and_460() -> None:
    old = f"MIG-{FIRST}/1/0"
    found = only(READERS, LISTING.replace(FIRST_SLICE, old))
    assert found.boards[1].board.uuid == old


def test_a_list_again_is_another_section() -> None:
    found = read(READERS, LISTING + LISTING)
    assert [section.evidence for section in found.sections] == [only(READERS, LISTING)] * 2


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (FIRST, "GPU-1", "UUID"),
        (SECOND, FIRST, "two of one UUID"),
        ("GPU 1:", "GPU one:", "not 'GPU number"),
        ("Device  1:", "Device  0:", "order"),
        ("Device  1:", "Device", "not 'MIG profile"),
        (SECOND_SLICE, "N/A", "N/A"),
        ("GPU 1: Toy H9 80GB", "GPU 1: ERR!", "ERR!"),
    ],
)
def test_lists_that_are_refused(old: str, new: str, reason: str) -> None:
    assert reason in refusal(READERS, LISTING.replace(old, new, 1))


def test_versions() -> None:
    assert dict(only(READERS, VERSIONS).versions) == {
        "tool": "610.99.04",
        "library": "610.99",
        "driver": "610.99.04",
        "toolkit": "13.3",
    }
    assert "two versions" in refusal(READERS, VERSIONS.replace("Deprecated", "580.1", 1))
    assert "no version" in refusal(READERS, "NVIDIA-SMI version : N/A")


@pytest.mark.parametrize("board", [" 0000:02:00.0", "0000:02:00.0", "0: 0000:02:00.0"])
@pytest.mark.parametrize("why", ["GPU is lost.  Reboot the system", "Unknown Error"])
def test_a_board_that_does_not_answer(board: str, why: str) -> None:
    text = LOST.replace(" 0000:02:00.0", board).replace("GPU is lost.  Reboot the system", why)
    [reading] = only(READERS, text).boards
    assert reading.board.key == BoardKey("cuda", "pci", "0000:02:00.0")
    assert reading.health is not None
    assert reading.health.status is HealthStatus.FAILED
    assert reading.health.checks[0].value == why


@pytest.mark.parametrize("board", ["000:BA:80.0", "", "s"])
def test_a_message_without_address(board: str) -> None:
    assert refusal(READERS, LOST.replace("0000:02:00.0", board)).startswith("nvidia-smi: ")
