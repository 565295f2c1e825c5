"""The table of processes below the `nvidia-smi` table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from accelhal.drivers.readings import NotReportedError, or_none
from accelhal.facts import BoardReading, ProcessMemory
from accelhal.spi import EvidenceError
from accelhal_cuda.evidence import words
from accelhal_cuda.evidence.table_rows import Rows
from accelhal_cuda.evidence.table_slices import Instances

_COLUMNS = re.compile(r"GPU (?P<instances>GI CI )?PID Type Process name(?: GPU Memory| Usage)")
_NONE = "No running processes found"
_PROCESS = re.compile(
    r"(?P<index>\d{1,4}) +(?:(?P<gpu>\d{1,4}|N/A) +(?P<compute>\d{1,4}|N/A) +)?"
    r"(?P<pid>\d{1,10}) +(?P<type>[CGM+]{1,5}|N/A) (?P<name>.*?) *(?P<used>\S+)",
    re.ASCII,
)
_HIDDEN = re.compile(r"(\d{1,4}) +(?:N/A +N/A +)?Not Supported", re.ASCII)


def with_processes(
    rows: Rows, readings: Sequence[BoardReading], slices: Mapping[Instances, int]
) -> list[BoardReading]:
    """The boards with the processes that hold memory on them, slices with their own.

    Raises:
        EvidenceError: the table is cut off, or names a board that is not there.
    """
    columns = " ".join(rows.row().split())
    if _COLUMNS.fullmatch(columns) is None:
        raise rows.error("columns of processes that are not known here")
    while not rows.is_border():
        rows.row()
    rows.border()
    boards = {
        reading.board.index: place
        for place, reading in enumerate(readings)
        if reading.board.parent is None
    }
    found: dict[int, list[ProcessMemory]] = {place: [] for place in range(len(readings))}
    hidden: set[int] = set()
    while not rows.is_border():
        if rows.row_says(_NONE):
            continue
        line = rows.place
        text = rows.row().strip()
        process, without = _PROCESS.fullmatch(text), _HIDDEN.fullmatch(text)
        named = process or without
        if named is None:
            raise EvidenceError(line, "no numbers of a process")
        index = int(named[1])
        if index not in boards:
            raise EvidenceError(line, f"a process on GPU {index}, which is not in the table")
        if process is None:
            hidden.add(boards[index])
            continue
        place = boards[index]
        if process["gpu"] not in (None, "N/A") and process["compute"] != "N/A":
            instances = index, int(process["gpu"]), int(process["compute"])
            place = slices.get(instances, place)
        try:
            pid = words.process(process["pid"])
        except NotReportedError as reason:
            raise EvidenceError(line, f"no number of a process: {reason}") from None
        found[place].append(ProcessMemory(pid, or_none(partial(words.memory, process["used"]))))
    rows.border()
    return [
        replace(reading, processes=None if place in hidden else tuple(found[place]))
        for place, reading in enumerate(readings)
    ]
