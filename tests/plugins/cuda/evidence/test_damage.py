"""Whatever arrives: nothing but EvidenceError, nothing invented, and no longer than it takes."""

from __future__ import annotations

import contextlib

import pytest
from accelhal_cuda.evidence import READERS
from captured_samples import nvidia_smi
from captured_samples.reading import SUMS, CountedLines, check, damaged, read
from hypothesis import given, strategies as st

from accelhal.drivers.readings import RANGES
from accelhal.evidence.captures import Capture
from accelhal.spi import EvidenceError

LINES = sorted({line for text in nvidia_smi.ALL for line in text.splitlines()})
FAILED = "its reader failed"
ADDED_UP = SUMS | {"corrected", "uncorrected", "corrected_total", "uncorrected_total"}
"""Errors are counted by kinds of memory."""


def sound(text: str) -> Capture:
    """What is read of a text, after a look at whether it stands there."""
    found = read(READERS, text)
    assert not [unread for unread in found.unread if FAILED in unread.reason]
    for section in found.sections:
        check(section.evidence, text, ADDED_UP)
        for reading in section.evidence.boards:
            for name, value in vars(reading.pcie).items() if reading.pcie else ():
                if value is not None and name in RANGES:
                    assert RANGES[name][0] <= value <= RANGES[name][1]
    return found


@pytest.mark.parametrize("text", nvidia_smi.ALL)
def test_every_sample_is_sound_and_read_whole(text: str) -> None:
    assert len(sound(text).sections) == 1
    assert not sound(text).unread


def test_all_samples_in_one_file_are_read_as_they_are_alone() -> None:
    found = sound("".join(nvidia_smi.ALL))
    assert not found.unread
    alone = [read(READERS, text).sections[0].evidence for text in nvidia_smi.ALL]
    assert [section.evidence for section in found.sections] == alone


@given(damaged(nvidia_smi.ALL))
def test_damaged_pages(text: str) -> None:
    sound(text)


@given(st.lists(st.sampled_from(LINES) | st.text(max_size=60), max_size=40))
def test_lines_in_any_order(lines: list[str]) -> None:
    sound("\n".join(lines))


@given(st.text())
def test_any_text(text: str) -> None:
    sound(text)


@given(st.sampled_from(nvidia_smi.ALL), st.data())
def test_a_page_that_stops_early_shows_no_more_than_the_whole(
    text: str, data: st.DataObject
) -> None:
    end = data.draw(st.integers(0, len(text.splitlines())))
    [whole] = read(READERS, text).sections
    for section in sound("\n".join(text.splitlines()[:end])).sections:
        names = {reading.board.key for reading in whole.evidence.boards}
        assert {reading.board.key for reading in section.evidence.boards} <= names


@pytest.mark.parametrize("text", nvidia_smi.ALL)
def test_a_long_text_takes_as_long_as_its_parts(text: str) -> None:
    """Counted, not timed: no reader looks at lines that it does not take more than a few times."""
    own = text.splitlines()
    start = next(n for n, line in enumerate(own) if any(r.begins(line) for r in READERS))
    for reader in READERS:
        lines = CountedLines([*own[start:], *["$ next"] * 1000])
        if reader.begins(own[start]):
            with contextlib.suppress(EvidenceError):
                reader.read(lines)
        assert lines.looks < 8 * len(own) + 8


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
