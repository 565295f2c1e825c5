"""The table of `npu-smi info`: two rows a chip, in every layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from accelhal.drivers.printed import (
    MEBIBYTE,
    cells,
    count,
    is_frame,
    not_shown,
    number,
    pci_address,
    shown,
    word,
)
from accelhal.drivers.readings import NotReportedError, in_range, or_none
from accelhal.facts import BoardDetails, BoardReading, Telemetry
from accelhal.spi import EvidenceError, EvidenceReader, Section
from accelhal_ascend.dcmi_figures import CARD_FIGURE
from accelhal_ascend.dcmi_memory import sizes
from accelhal_ascend.evidence.chips import chip, evidence, health, indices, number_of
from accelhal_ascend.evidence.processes import Processes, read_processes

_PAGE = "npu-smi info"

_HUGEPAGES = "Hugepages-Usage(page)"
_UPPER = frozenset({"Power(W)", "Temp(C)", _HUGEPAGES})
_LOWER = frozenset({"AICore(%)", "Util(%)", "Memory-Usage(MB)", "HBM-Usage(MB)"})
"""Headings of the last column's first and second row; "Util(%)" is what follows "NPU"."""

_CHIP, _LOGIC_ID, _PHYSICAL_ID, _NO_CHIP = "Chip", "Chip Device", "Chip Phy-ID", ""
"""First heading of the second row: of 910 and 910B, of 310 and 310P, of A3, and of the 950."""


@dataclass(frozen=True)
class _Layout:
    """Which columns there are."""

    second: str
    upper: Sequence[str]
    lower: Sequence[str]

    @property
    def fields(self) -> int:
        """Cells of a row."""
        return 4 if self.second == _NO_CHIP else 3


@dataclass(frozen=True)
class _Row:
    """What the two rows of a chip say, as they say it."""

    card: int
    chip: int
    other: int | None
    name: str
    bus: str
    health: str
    figures: dict[str, str]


def _begins(line: str) -> bool:
    return "|" in line and (
        ("npu-smi" in line and "Version:" in line)
        or ("NPU" in line and "Name" in line and "Health" in line and "Power(W)" in line)
    )


def _read(lines: Sequence[str]) -> Section:
    versions, place = _versions(lines)
    layout = _layout(lines, place)
    rows, place = _rows(lines, place + 2, layout)
    processes: Processes | None = None
    try:
        # Damaged rows there say nothing against the chips: their own reader tells of them.
        processes = read_processes(lines, place)
        place = processes.end
    except EvidenceError:
        pass
    notes = [f"{_PAGE} also shows {_HUGEPAGES}."] if _HUGEPAGES in layout.upper else []
    found = evidence(_PAGE, _readings(rows, layout, processes), versions=versions, notes=notes)
    return Section(found, place)


def _versions(lines: Sequence[str]) -> tuple[dict[str, str], int]:
    """The tool's and the driver's, and where the headings stand."""
    row = cells(lines[0])
    if row is None:
        raise EvidenceError(0, "a row that is cut off")
    words = row[0].split()
    if words[:1] != ["npu-smi"]:
        return {}, 0
    if len(row) != 1 or len(words) != 4 or words[2] != "Version:":
        raise EvidenceError(0, f"a header that is not known: {row[0][:60]!r}")
    texts = {"tool": or_none(partial(word, words[1])), "driver": or_none(partial(word, words[3]))}
    found = {name: text for name, text in texts.items() if text is not None}
    return found, _after_frames(lines, 1)[0]


def _layout(lines: Sequence[str], place: int) -> _Layout:
    if place + 1 >= len(lines):
        raise EvidenceError(len(lines) - 1, "the table is cut off in its head")
    first, second = cells(lines[place]), cells(lines[place + 1])
    if first is None or second is None:
        at = place if first is None else place + 1
        raise EvidenceError(at, "where headings are due stands another line")
    if first[:-1] == ["NPU ID", "Name", "Health"] and second[:-1] == ["", "", "Bus-Id"]:
        kind = _NO_CHIP
    elif first[:-1] == ["NPU Name", "Health"] and second[1:-1] == ["Bus-Id"]:
        kind = second[0]
    else:
        raise EvidenceError(place, "headings that are not known")
    if kind not in (_CHIP, _LOGIC_ID, _PHYSICAL_ID, _NO_CHIP):
        raise EvidenceError(place + 1, f"a heading that is not known: {kind[:60]!r}")
    return _Layout(
        kind,
        _headings(first[-1], _UPPER, place),
        _headings(second[-1].replace("NPU Util(%)", "Util(%)"), _LOWER, place + 1),
    )


def _headings(cell: str, known: frozenset[str], line: int) -> list[str]:
    found = cell.split()
    for heading in found:
        if heading not in known or found.count(heading) > 1:
            raise EvidenceError(line, f"a heading that is not known: {heading[:60]!r}")
    return found


def _rows(lines: Sequence[str], place: int, layout: _Layout) -> tuple[list[_Row], int]:
    """The chips' rows, and the line after their last frame."""
    found: list[_Row] = []
    place, framed = _after_frames(lines, place)
    while place < len(lines):
        upper = cells(lines[place])
        if upper is None and lines[place].lstrip().startswith("|"):
            raise EvidenceError(place, "a row that is cut off")
        if upper is None or not upper[0][:1].isdigit():
            break
        lower = cells(lines[place + 1]) if place + 1 < len(lines) else None
        if lower is None:
            raise EvidenceError(place, "the second row of this chip is missing or cut off")
        found.append(_row(upper, lower, place, layout))
        place, framed = _after_frames(lines, place + 2)
    if not found:
        raise EvidenceError(min(place, len(lines) - 1), "the table has no rows")
    if not framed:
        raise EvidenceError(place - 1, "the table is cut off: no frame ends it")
    _refuse_twins(found, place - 1)
    return found, place


def _after_frames(lines: Sequence[str], place: int) -> tuple[int, bool]:
    start = place
    while place < len(lines) and is_frame(lines[place]):
        place += 1
    return place, place > start


def _row(upper: list[str], lower: list[str], line: int, layout: _Layout) -> _Row:
    for at, row in ((line, upper), (line + 1, lower)):
        if len(row) != layout.fields:
            raise EvidenceError(at, f"{len(row)} cells in a row where {layout.fields} are due")
    if layout.second == _NO_CHIP:
        card, name, verdict, _ = upper
        numbers = ["0"]
        if lower[:2] != ["", ""]:
            raise EvidenceError(line + 1, "the second row of a chip begins with a text")
    else:
        card, _, name = upper[0].partition(" ")
        verdict = upper[1]
        numbers = lower[0].split()
    due = len(layout.second.split()) or 1
    found = [number_of(text) for text in numbers]
    owner = number_of(card)
    if owner is None or len(found) != due or found[0] is None:
        raise EvidenceError(line, "the chip's numbers cannot be read")
    figures = {**_figures(upper[-1], layout.upper, line)}
    figures.update(_figures(lower[-1], layout.lower, line + 1))
    other = found[1] if due > 1 else None
    return _Row(owner, found[0], other, name, lower[-2], verdict, figures)


def _figures(cell: str, headings: Sequence[str], line: int) -> dict[str, str]:
    """Heading -> its figure; a pair ("28220/ 32768") is one."""
    figures = "/".join(part.strip() for part in cell.split("/")).split()
    if len(figures) != len(headings):
        raise EvidenceError(line, f"{len(figures)} figures under {len(headings)} headings")
    return dict(zip(headings, figures, strict=True))


def _refuse_twins(rows: Sequence[_Row], line: int) -> None:
    """Two rows of one chip are a damaged table, or two tables in one."""
    places = Counter((row.card, row.chip) for row in rows)
    buses = Counter(or_none(partial(pci_address, row.bus)) for row in rows)
    numbers = Counter(row.other for row in rows)
    del buses[None], numbers[None]
    for names in (places, buses, numbers):
        for name, times in names.items():
            if times > 1:
                raise EvidenceError(line, f"two of its chips have the number or address {name}")


def _readings(
    rows: Sequence[_Row], layout: _Layout, processes: Processes | None
) -> list[BoardReading]:
    places = [(row.card, row.chip) for row in rows]
    if layout.second == _CHIP:
        numbers = indices(places)
    elif layout.second == _LOGIC_ID:
        # npu-smi prints what dcmi_get_device_logic_id answers.
        numbers = [row.other for row in rows]
    elif layout.second == _NO_CHIP:
        # Cards and chips are gone on the 950: its dev_id is the driver's number.
        numbers = [row.card for row in rows]
    else:
        numbers = [None for _ in rows]
    return [
        _reading(row, index, layout, processes) for row, index in zip(rows, numbers, strict=True)
    ]


def _reading(
    row: _Row, index: int | None, layout: _Layout, processes: Processes | None
) -> BoardReading:
    figures = row.figures
    readers = {
        "temperature": partial(_number, figures, "Temp(C)"),
        "power": partial(_power, row, layout),
        "utilization": partial(_utilization, figures),
        "memory_used": partial(_memory, figures, used=True),
        "memory_total": partial(_memory, figures, used=False),
    }
    sensors = shown(Telemetry, readers, _PAGE)
    board = chip(
        row.card,
        row.chip,
        name=or_none(partial(word, row.name)) or "",
        index=index,
        pci=or_none(partial(pci_address, row.bus)),
        total_memory=sensors.memory_total,
    )
    details = None
    if layout.second == _PHYSICAL_ID and row.other is not None:
        details = BoardDetails(node=row.other, reasons={"*": f"{_PAGE} does not show it"})
    return BoardReading(
        board=board,
        details=details,
        telemetry=sensors,
        health=health(row.health),
        processes=None if processes is None else processes.of(row.card, row.chip),
    )


def _number(figures: dict[str, str], heading: str) -> float:
    if heading not in figures:
        raise NotReportedError(f"{_PAGE} has no column of it")
    return number(figures[heading])


def _power(row: _Row, layout: _Layout) -> float:
    if layout.second == _PHYSICAL_ID and row.chip > 0 and row.figures.get("Power(W)") == "-":
        raise NotReportedError(f"the tool prints '-': {CARD_FIGURE}")
    return _number(row.figures, "Power(W)")


def _utilization(figures: dict[str, str]) -> float:
    return _number(figures, "Util(%)" if "Util(%)" in figures else "AICore(%)")


def _memory(figures: dict[str, str], used: bool) -> int:
    """Bytes: of HBM where the chip has it, else of DDR."""
    pairs = [figures[name] for name in ("HBM-Usage(MB)", "Memory-Usage(MB)") if name in figures]
    if not pairs:
        raise NotReportedError(f"{_PAGE} has no column of it")
    pair = next((pair for pair in pairs if pair.partition("/")[2] != "0"), pairs[0])
    held, _, total = pair.partition("/")
    if used:
        return sizes(count(total), count(held))[1]
    if or_none(partial(count, held)) is None:
        if count(total) == 0:
            raise not_shown(pair)
        return int(in_range("memory_total", count(total) * MEBIBYTE))
    return sizes(count(total), count(held))[0]


TABLE = EvidenceReader(_PAGE, _begins, _read)
