"""The table that `cnmon` prints: two rows a card, in the layouts of 1.x, 4.x and 5.x."""

from __future__ import annotations

import re
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
from accelhal.drivers.readings import NotReportedError, or_none
from accelhal.facts import BoardDetails, BoardReading, Telemetry
from accelhal.spi import EvidenceError, EvidenceReader, Section
from accelhal_cambricon.cndev_figures import COMPUTE_MODES
from accelhal_cambricon.evidence.cards import card, evidence, number_of, version
from accelhal_cambricon.evidence.processes import Processes, read_processes

_PAGE = "cnmon"

_BUS, _DRIVER = "Bus-Id", "Inited Driver"
_MODE, _SR_IOV, _VIRTUAL = "Mode Compute-Mode", "SR-IOV Compute-Mode", "vMemory-Usage"
_UPPER = ("Card VF Name Firmware", "Util Ecc-Error")
_LOWER = ("Fan Temp Pwr:Usage/Cap", "Memory-Usage")
"""Headings; the middle one above tells 5.x from 4.x and 1.x, the last one below their releases."""

_WHOLE = "FULL"
"""The mode of a card that is not cut into slices."""

_NO_SLICE = "/"

_SENSORS = re.compile(r"(\S{1,20}) (\S{1,20}) (\S{1,20}) W/ ?(\S{1,20}) W")
_MEMORY = re.compile(r"(\S{1,20}) MiB/ ?(\S{1,20}) MiB")


@dataclass(frozen=True)
class _Layout:
    """The headings that differ: in the middle above, on the right below."""

    middle: str
    right: str


@dataclass(frozen=True)
class _Row:
    """What the two rows of a card say, as they say it."""

    number: int
    slice: str
    name: str
    firmware: str
    middle: str
    utilization: str
    sensors: str
    memory: str
    right: str


def _begins(line: str) -> bool:
    return "|" in line and (
        line.lstrip("| ").startswith("CNMON ") or ("Card" in line and "Firmware" in line)
    )


def _read(lines: Sequence[str]) -> Section:
    versions, place = _versions(lines)
    layout = _layout(lines, place)
    rows, place = _rows(lines, place + 2)
    processes, place = _processes(lines, place)
    if layout.middle == _DRIVER:
        versions.update(_driver(rows))
    whole = [row for row in rows if row.slice == _NO_SLICE]
    notes = [
        f"{_PAGE} also shows Fan.",
        f"{_PAGE} also shows Ecc-Error, and does not say of which errors it is the count.",
        *(f"{_PAGE} also shows VF {r.slice} of card {r.number}." for r in rows if r not in whole),
    ]
    boards = [_reading(row, layout, processes) for row in whole]
    return Section(evidence(_PAGE, boards, versions, notes), place)


def _versions(lines: Sequence[str]) -> tuple[dict[str, str], int]:
    """The tool's and the driver's, and where the headings stand."""
    row = cells(lines[0])
    if row is None:
        raise EvidenceError(0, "a row that is cut off")
    words = row[0].split()
    if words[:1] != ["CNMON"]:
        return {}, 0
    if len(row) != 1 or len(words) not in (2, 4) or words[2:3] not in ([], ["Driver"]):
        raise EvidenceError(0, f"a header that is not known: {row[0][:60]!r}")
    texts = {"tool": or_none(partial(version, words[1]))}
    if len(words) == 4:
        texts["driver"] = or_none(partial(version, words[3]))
    return {name: text for name, text in texts.items() if text is not None}, _after(lines, 1)


def _layout(lines: Sequence[str], place: int) -> _Layout:
    if place + 1 >= len(lines):
        raise EvidenceError(len(lines) - 1, "the table is cut off in its head")
    upper, lower = cells(lines[place]), cells(lines[place + 1])
    if (
        upper is None
        or lower is None
        or (len(upper), len(lower)) != (3, 3)
        or (upper[0], upper[2]) != _UPPER
        or upper[1] not in (_BUS, _DRIVER)
        or (lower[0], lower[1]) != _LOWER
        or lower[2] not in (_MODE, _SR_IOV, _VIRTUAL)
    ):
        raise EvidenceError(place, "headings that are not known")
    return _Layout(upper[1], lower[2])


def _after(lines: Sequence[str], place: int) -> int:
    while place < len(lines) and is_frame(lines[place]):
        place += 1
    return place


def _rows(lines: Sequence[str], place: int) -> tuple[list[_Row], int]:
    """The cards' rows, and the line after their last frame."""
    found: list[_Row] = []
    place = _after(lines, place)
    framed = place
    while place < len(lines) and lines[place].lstrip().startswith("|"):
        if found and framed != place:
            raise EvidenceError(place, "a card's rows go on where a frame is due")
        upper = cells(lines[place])
        lower = cells(lines[place + 1]) if place + 1 < len(lines) else None
        if upper is None or lower is None or (len(upper), len(lower)) != (3, 3):
            raise EvidenceError(place, "a card's rows are damaged or cut off")
        found.append(_row(upper, lower, place))
        place += 2
        framed = _after(lines, place)
        if framed == place:
            raise EvidenceError(place - 1, "the table is cut off: no frame ends it")
        place = framed
    if not found:
        raise EvidenceError(min(place, len(lines) - 1), "the table has no rows")
    _refuse_twins(found, place - 1)
    return found, place


def _row(upper: list[str], lower: list[str], line: int) -> _Row:
    words = upper[0].split()
    found = number_of(words[0]) if len(words) == 4 else None
    figures = upper[2].split()
    if found is None or len(figures) != 2:
        raise EvidenceError(line, "a card's row that cannot be read")
    return _Row(found, *words[1:], upper[1], figures[0], *lower)


def _refuse_twins(rows: Sequence[_Row], line: int) -> None:
    """Two rows of one card are a damaged table, or two tables in one."""
    whole = [row for row in rows if row.slice == _NO_SLICE]
    numbers = Counter(str(row.number) for row in whole)
    buses = Counter(or_none(partial(pci_address, row.middle)) for row in whole)
    del buses[None]
    for name, times in (*numbers.items(), *buses.items()):
        if times > 1:
            raise EvidenceError(line, f"two of its cards have the number or address {name}")


def _processes(lines: Sequence[str], end: int) -> tuple[Processes | None, int]:
    """The table of processes where it follows, undamaged; its own reader tells of a damaged one."""
    place = end
    while place < len(lines) and not lines[place].strip():
        place += 1
    try:
        found = read_processes(lines, _after(lines, place))
    except EvidenceError:
        return None, end
    return found, found.end


def _driver(rows: Sequence[_Row]) -> dict[str, str]:
    """The driver's version that 4.x and 1.x print for each card."""
    told = [row.middle.split() for row in rows]
    found = {or_none(partial(version, words[1])) for words in told if len(words) == 2}
    alone = found.pop() if len(found) == 1 else None
    return {} if alone is None else {"driver": alone}


def _reading(row: _Row, layout: _Layout, processes: Processes | None) -> BoardReading:
    sensors = shown(
        Telemetry,
        {
            "temperature": lambda: number(_part(_SENSORS, row.sensors, 2), "C"),
            "power": lambda: number(_part(_SENSORS, row.sensors, 3)),
            "power_limit": lambda: number(_part(_SENSORS, row.sensors, 4)),
            "utilization": partial(number, row.utilization, "%"),
            "memory_used": partial(_memory, row, used=True),
            "memory_total": partial(_memory, row, used=False),
        },
        _PAGE,
    )
    readers = {"firmware": partial(version, row.firmware)}
    if layout.right != _VIRTUAL:
        readers["compute_mode"] = partial(_compute_mode, row)
    details = shown(BoardDetails, {**readers, "partitioned": partial(_is_cut, row, layout)}, _PAGE)
    return BoardReading(
        board=card(
            row.number,
            name=or_none(partial(word, row.name)) or "",
            pci=or_none(partial(pci_address, row.middle)) if layout.middle == _BUS else None,
            total_memory=sensors.memory_total,
        ),
        details=details,
        telemetry=sensors,
        processes=None if processes is None else processes.of(row.number),
    )


def _part(pattern: re.Pattern[str], cell: str, place: int) -> str:
    found = pattern.fullmatch(cell)
    if found is None:
        raise not_shown(cell)
    return found[place]


def _memory(row: _Row, used: bool) -> int:
    """Bytes; one of the two may be masked."""
    held, total = (_part(_MEMORY, row.memory, place) for place in (1, 2))
    use, capacity = or_none(partial(count, held)), or_none(partial(count, total))
    if capacity == 0 or (use is not None and capacity is not None and use > capacity):
        raise not_shown(row.memory)
    return count(held if used else total) * MEBIBYTE


def _compute_mode(row: _Row) -> str:
    mode = row.right.split()[-1:]
    if not mode or mode[0].lower() not in COMPUTE_MODES:
        raise not_shown(row.right)
    return mode[0].lower()


def _is_cut(row: _Row, layout: _Layout) -> bool:
    if layout.right != _MODE:
        raise NotReportedError(f"this release of {_PAGE} has no column of it")
    if row.right.split()[:1] != [_WHOLE]:
        raise not_shown(row.right)
    return False


TABLE = EvidenceReader(_PAGE, _begins, _read)
