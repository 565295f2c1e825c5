"""The table of MIG instances below the `nvidia-smi` table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from accelhal.facts import BoardInfo, BoardReading, Telemetry
from accelhal.spi import EvidenceError
from accelhal_cuda.evidence import words
from accelhal_cuda.evidence.board_names import slice_of
from accelhal_cuda.evidence.pages import Page
from accelhal_cuda.evidence.table_rows import Rows

Instances = tuple[int, int, int]
"""Numbers of the board, of the GPU instance, and of the compute instance."""

_COLUMNS = "GPU GI CI MIG"
_MEMORY_COLUMNS = ("Memory-Usage", "Shared Memory-Usage")
_NONE = "No MIG devices found"
_NUMBERS = re.compile(r"(\d{1,4}) +(\d{1,4}) +(\d{1,4}) +(\d{1,4})", re.ASCII)
_MEMORY = re.compile(r"(\S+) +/ +(\S+)")


def read_slices(
    rows: Rows, readings: Sequence[BoardReading]
) -> tuple[list[BoardReading], dict[Instances, int]]:
    """The boards with their slices, each after its board; and the place of each by its numbers.

    Raises:
        EvidenceError: the table is cut off, or names a board that is not there.
    """
    _header(rows)
    boards = {reading.board.index: reading.board for reading in readings}
    cut: dict[int | None, dict[int, tuple[Instances, BoardReading]]] = {}
    while rows.is_row() and not rows.is_border():
        place = rows.place
        if rows.row_says(_NONE):
            continue
        instances, number, reading = _slice(rows, boards)
        if number in cut.setdefault(instances[0], {}):
            raise EvidenceError(place, f"two slices {number} of one board")
        cut[instances[0]][number] = instances, reading
    if rows.is_border():
        rows.border()
    found: list[BoardReading] = []
    places: dict[Instances, int] = {}
    for reading in readings:
        found.append(reading)
        for instances, part in cut.get(reading.board.index, {}).values():
            places[instances] = len(found)
            found.append(part)
    return found, places


def _header(rows: Rows) -> None:
    rows.border()
    numbers, memory, *_ = (" ".join(cell.split()) for cell in rows.cells(4))
    if numbers != _COLUMNS or memory not in _MEMORY_COLUMNS:
        raise rows.error("columns of MIG devices that are not known here")
    while not rows.is_border():
        rows.cells(4)
    rows.border()


def _slice(rows: Rows, boards: dict[int | None, BoardInfo]) -> tuple[Instances, int, BoardReading]:
    place = rows.place
    naming, held, *_ = rows.cells(4)
    while not rows.is_border():
        rows.cells(4)
    rows.border()
    found = _NUMBERS.fullmatch(naming)
    if found is None:
        raise EvidenceError(place, "no numbers of a MIG device")
    index, gpu, compute, number = map(int, found.groups())
    parent = boards.get(index)
    if parent is None:
        raise EvidenceError(place, f"a MIG device of GPU {index}, which is not in the table")
    memory = _MEMORY.fullmatch(held)
    used, total = memory.groups() if memory else (held, held)
    sensors = words.gathered(
        Telemetry,
        {
            "memory_used": partial(Page("Memory-Usage", used).read, words.memory),
            "memory_total": partial(Page("Memory-Usage", total).read, words.memory),
        },
    )
    info = slice_of(parent, number, total_memory=sensors.memory_total if sensors else None)
    return (index, gpu, compute), number, BoardReading(info, telemetry=sensors)
