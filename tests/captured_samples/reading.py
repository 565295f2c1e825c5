"""What holds of every look at boards, and texts as they arrive: cut, damaged, mixed with others."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import fields
from typing import overload

from hypothesis import strategies as st

from accelhal.drivers.readings import RANGES
from accelhal.evidence.captures import Capture, read_capture
from accelhal.facts import Evidence
from accelhal.spi import EvidenceReader

SUMS = frozenset({"repaired"})
"""Fields that add up what a tool prints."""


def read(readers: Sequence[EvidenceReader], text: str) -> Capture:
    return read_capture("capture.txt", text, readers)


def only(readers: Sequence[EvidenceReader], text: str) -> Evidence:
    """The one section of a text in which nothing else stands."""
    found = read(readers, text)
    assert not found.unread, [str(unread) for unread in found.unread]
    assert len(found.sections) == 1
    return found.sections[0].evidence


def refusal(readers: Sequence[EvidenceReader], text: str) -> str:
    """The first reason why something in a text was not read."""
    found = read(readers, text)
    assert found.unread
    return found.unread[0].reason


def check(evidence: Evidence, text: str, sums: Collection[str] = SUMS) -> None:
    """Each figure is in its range and stands in the text, each that is missing has a reason."""
    printed = {float(number) for number in re.findall(r"\d{1,19}(?:\.\d+)?", text, re.ASCII)}

    def stands(value: float) -> bool:
        return value in printed or value / (1 << 20) in printed

    for reading in evidence.boards:
        board = reading.board
        assert board.uuid != ""
        assert board.pci != ""
        # Where a tool shows every board and numbers none, the number is the place.
        assert board.index is None or board.index in {*printed, *range(len(evidence.boards))}
        assert board.total_memory is None or 0 < board.total_memory <= 1 << 50
        for facts in (reading.details, reading.telemetry, reading.memory_errors):
            if facts is None:
                continue
            for field in fields(facts):
                value = getattr(facts, field.name)
                if value is None:
                    assert field.name in facts.reasons or "*" in facts.reasons
                elif field.name in RANGES:
                    assert RANGES[field.name][0] <= value <= RANGES[field.name][1]
                    assert stands(abs(value)) or field.name in sums
        for process in reading.processes or ():
            assert 0 < process.pid < 1 << 31
            assert process.used is None or (0 <= process.used <= 1 << 50 and stands(process.used))
    for relation in evidence.relations:
        assert 0 <= relation.one < relation.other < len(evidence.boards)


def sound(readers: Sequence[EvidenceReader], text: str, sums: Collection[str] = SUMS) -> Capture:
    """What is read of a text, after a look at whether no reader failed and all stands there."""
    found = read(readers, text)
    assert not [unread for unread in found.unread if "its reader failed" in unread.reason]
    for section in found.sections:
        check(section.evidence, text, sums)
        for reading in section.evidence.boards:
            for name, value in vars(reading.pcie).items() if reading.pcie else ():
                if value is not None and name in RANGES:
                    assert RANGES[name][0] <= value <= RANGES[name][1]
    return found


NOISE = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="|+-= :/0123456789", max_size=80),
    st.sampled_from(["", "...", "$ date", "+----+", "|", "| 0 |", " :", "Chip ID : 0", "X", "-"]),
)


@st.composite
def damaged(draw: st.DrawFn, texts: Sequence[str]) -> str:
    """One of the texts with lines lost, moved and added, letters changed, and its end cut off."""
    lines = draw(st.sampled_from(texts)).splitlines()
    for _ in range(draw(st.integers(0, 6))):
        place = draw(st.integers(0, len(lines)))
        match draw(st.sampled_from(["lose", "add", "swap", "letter", "repeat"])):
            case "lose":
                del lines[place : place + draw(st.integers(1, 3))]
            case "add":
                lines.insert(place, draw(NOISE))
            case "repeat":
                lines[place:place] = lines[place : place + draw(st.integers(1, 4))]
            case "swap" if place + 1 < len(lines):
                lines[place], lines[place + 1] = lines[place + 1], lines[place]
            case "letter" if place < len(lines) and lines[place]:
                line, at = lines[place], draw(st.integers(0, len(lines[place]) - 1))
                letter = draw(st.sampled_from("0123456789|:/-. XxNA") | st.characters())
                lines[place] = line[:at] + letter + line[at + 1 :]
            case _:
                pass
    text = "\n".join(lines)
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text


class CountedLines(Sequence[str]):
    """Lines that count how often one of them is looked at."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.looks = 0

    def __len__(self) -> int:
        return len(self.lines)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        found = self.lines[place]
        self.looks += 1 if isinstance(found, str) else len(found)
        return found
