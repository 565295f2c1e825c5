"""Whatever arrives: nothing but EvidenceError, nothing invented, and no longer than it takes."""

from __future__ import annotations

import contextlib

from accelhal_cambricon.evidence import READERS
from captured_samples import cnmon
from captured_samples.reading import CountedLines, check, damaged, read
from hypothesis import given, strategies as st

from accelhal.spi import EvidenceError

LINES = sorted({line for text in cnmon.ALL for line in text.splitlines()})
FAILED = "its reader failed"


def test_every_sample_is_sound_and_read_whole() -> None:
    for text in cnmon.ALL:
        found = read(READERS, text)
        assert len(found.sections) == 1
        check(found.sections[0].evidence, text)


@given(damaged(cnmon.ALL))
def test_damaged_pages(text: str) -> None:
    found = read(READERS, text)
    assert not [unread for unread in found.unread if FAILED in unread.reason]
    for section in found.sections:
        check(section.evidence, text)


@given(st.lists(st.sampled_from(LINES) | st.text(max_size=60), max_size=40))
def test_lines_in_any_order(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = read(READERS, text)
    assert not [unread for unread in found.unread if FAILED in unread.reason]
    for section in found.sections:
        check(section.evidence, text)


@given(st.text())
def test_any_text(text: str) -> None:
    found = read(READERS, text)
    assert not [unread for unread in found.unread if FAILED in unread.reason]


def test_a_long_text_takes_as_long_as_its_parts() -> None:
    """Counted, not timed: no reader looks at lines that it does not take more than a few times."""
    for text in cnmon.ALL:
        own = text.splitlines()
        start = next(n for n, line in enumerate(own) if any(r.begins(line) for r in READERS))
        for reader in READERS:
            lines = CountedLines([*own[start:], *["$ next"] * 1000])
            if reader.begins(own[start]):
                with contextlib.suppress(EvidenceError):
                    reader.read(lines)
            assert lines.looks < 5 * len(own)
