"""Pages one after another, and pages that stop early; damage is in test_damaged_evidence.py."""

from __future__ import annotations

import pytest
from accelhal_cuda.evidence import READERS
from captured_samples import nvidia_smi
from captured_samples.reading import CountedLines, read, sound as sound_text
from hypothesis import given, strategies as st

from accelhal.evidence.captures import Capture
from accelhal.spi import EvidenceError


def sound(text: str) -> Capture:
    """What is read of a text, after a look at whether it stands there."""
    return sound_text(READERS, text, nvidia_smi.SUMS)


def test_all_samples_in_one_file_are_read_as_they_are_alone() -> None:
    found = sound("".join(nvidia_smi.ALL))
    assert not found.unread
    alone = [read(READERS, text).sections[0].evidence for text in nvidia_smi.ALL]
    assert [section.evidence for section in found.sections] == alone


@given(st.sampled_from(nvidia_smi.ALL), st.data())
def test_a_page_that_stops_early_shows_no_more_than_the_whole(
    text: str, data: st.DataObject
) -> None:
    end = data.draw(st.integers(0, len(text.splitlines())))
    [whole] = read(READERS, text).sections
    for section in sound("\n".join(text.splitlines()[:end])).sections:
        names = {reading.board.key for reading in whole.evidence.boards}
        assert {reading.board.key for reading in section.evidence.boards} <= names


@pytest.mark.parametrize(
    "line",
    [
        '<?xml version="1.0" ?>',
        "<nvidia_smi_log>",
        "==============NVSMI LOG==============",
        "| NVIDIA-SMI 590.99.01   Driver Version: 590.99.01   CUDA Version: 13.1 |",
        "\tGPU0\tCPU Affinity",
        f"GPU 0: Toy (UUID: {nvidia_smi.FIRST})",
        "NVIDIA-SMI version  : 590.99",
    ],
)
def test_many_beginnings_look_at_each_line_a_few_times(line: str) -> None:
    lines = CountedLines([line] * 2000)
    place = 0
    reader = next(reader for reader in READERS if reader.begins(line))
    while place < len(lines.lines):
        rest = CountedLines(lines.lines[place : place + 200])
        try:
            place += reader.read(rest).length
        except EvidenceError as error:
            place += error.line + 1
        lines.looks += rest.looks
    assert lines.looks < 20 * len(lines.lines)


def test_a_row_without_end_is_refused() -> None:
    lines = nvidia_smi.TABLE_384.splitlines()
    lines[-4] = f"|    0     10001      G   {'a' * 400}      283MiB |"
    found = sound("\n".join(lines))
    assert not found.sections
    assert "characters" in found.unread[0].reason
