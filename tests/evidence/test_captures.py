"""Sections are found wherever they stand; what is not read is named, never dropped in silence."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from evidence.toy_tool import BROKEN, FIRST, LAST, READER, page, rows
from hypothesis import given, strategies as st

from accelhal.evidence.captures import read_capture
from accelhal.facts import Evidence
from accelhal.spi import EvidenceReader, Section

NOISE = st.lists(
    st.text(
        st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="#$%>"),
        max_size=20,
    ).filter(lambda line: not line.startswith("toy-smi")),
    max_size=4,
).map("\n".join)


@given(st.lists(NOISE, min_size=1, max_size=6))
def test_sections_with_noise_between_are_all_found(noise: list[str]) -> None:
    text = "".join(f"{lines}\n{page(*rows(n))}" for n, lines in enumerate(noise))
    found = read_capture("a.txt", text, [BROKEN, READER])
    assert [s.evidence.boards[0].board.index for s in found.sections] == list(range(len(noise)))
    lines = text.splitlines()
    assert all(lines[section.line - 1] == FIRST for section in found.sections)
    told = {n for u in found.unread for n in range(u.line, u.line + u.count)}
    read = {n for s in found.sections for n in range(s.line, s.line + s.count)}
    assert not told & read
    for number, line in enumerate(lines, start=1):
        assert number in told | read or not any(map(str.isalnum, line))


@given(st.text(max_size=200))
def test_any_text_is_read_or_named(text: str) -> None:
    found = read_capture("a.txt", text, [BROKEN, READER])
    assert found.sections == ()


def test_escape_sequences_of_terminals_are_no_text() -> None:
    found = read_capture("a.txt", f"\x1b[1;32m{page(*rows(0))}\x1b[0m", [READER])
    assert (len(found.sections), found.unread) == (1, ())


def test_lines_of_no_tool_are_quoted() -> None:
    (unread,) = read_capture("a.txt", "\n$ uptime\n\nup 3 days\n\n", [READER]).unread
    assert str(unread) == "a.txt, lines 2 to 4: of no tool known here: 'up 3 days'"


@pytest.mark.parametrize("remark", ["# host 7", "$ toy smi", "root@h:~# toy smi", "[a@b ~]$ x"])
def test_prompts_and_remarks_alone_are_not_told(remark: str) -> None:
    found = read_capture("a.txt", f"{remark}\n{page(*rows(0))}", [READER])
    assert (len(found.sections), found.unread) == (1, ())


@pytest.mark.parametrize("figures", ["41%   53C    P0", "  0% 12 W", "load 41% of 8"])
def test_a_figure_in_percent_is_no_prompt(figures: str) -> None:
    found = read_capture("a.txt", f"{figures}\n{page(*rows(0))}", [READER])
    assert [part.line for part in found.unread] == [1]


def test_a_section_that_is_cut_off_costs_itself_alone() -> None:
    text = f"{FIRST}\n{rows(0)[0]}\n" + page(*rows(1))
    found = read_capture("a.txt", text, [READER])
    assert [s.evidence.boards[0].board.index for s in found.sections] == [1]
    assert str(found.unread[0]) == "a.txt, line 3: toy-smi: a row has four cells"


def test_a_damaged_row_is_told_by_its_line() -> None:
    text = page(rows(0)[0], "1 2 3") + page(*rows(1))
    found = read_capture("a.txt", text, [READER])
    assert len(found.sections) == 1
    assert str(found.unread[0]) == "a.txt, line 3: toy-smi: a row has four cells"
    assert LAST in found.unread[1].reason


def test_a_section_cut_off_by_the_end_is_told() -> None:
    (unread,) = read_capture("a.txt", f"{FIRST}\n", [READER]).unread
    assert str(unread) == "a.txt, line 1: toy-smi: it is cut off"


def test_a_reader_that_fails_costs_its_line() -> None:
    found = read_capture("a.txt", "bug-smi\n" + page(*rows(0)), [BROKEN, READER])
    assert len(found.sections) == 1
    assert "its reader failed: ZeroDivisionError: a bug" in str(found.unread[0])


@given(st.integers(0, 5), st.slices(6))
def test_a_reader_sees_the_lines_from_its_first_on(start: int, part: slice) -> None:
    seen: list[Sequence[str]] = []

    def read(lines: Sequence[str]) -> Section:
        seen.append(lines)
        return Section(Evidence("toy", "toy-smi"), len(lines))

    lines = [f"line {number}" for number in range(6)]
    reader = EvidenceReader("toy-smi", lambda line: line == lines[start], read)
    read_capture("a.txt", "\n".join(lines), [reader])
    assert list(seen[0]) == lines[start:]
    assert seen[0][-1] == lines[-1]
    assert list(seen[0][part]) == lines[start:][part]
