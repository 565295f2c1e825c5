"""Reads the `nvidia-smi` table, and those of slices and processes below it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from accelhal.drivers.printed import count, pci_address
from accelhal.drivers.readings import or_none
from accelhal.facts import (
    BoardDetails,
    BoardReading,
    Evidence,
    HealthReport,
    MemoryErrors,
    Telemetry,
)
from accelhal.spi import EvidenceError, EvidenceReader, Section
from accelhal_cuda.evidence import words
from accelhal_cuda.evidence.board_names import board, require_distinct
from accelhal_cuda.evidence.pages import Page
from accelhal_cuda.evidence.table_processes import with_processes
from accelhal_cuda.evidence.table_rows import Rows
from accelhal_cuda.evidence.table_slices import Instances, read_slices
from accelhal_cuda.health_rules import memory_checks, unreachable

_TOOL = "nvidia-smi"

_HEADER = re.compile(
    r"NVIDIA-SMI (?P<tool>\S+) +(?:Driver|KMD) Version: (?P<driver>\S+)"
    r"(?: +CUDA (?:UMD )?Version: (?P<toolkit>\S+))?"
)
"""Release 384 names no CUDA version; 610 tells the kernel's and the user's driver apart."""

_NAME_COLUMNS = ("GPU Name", "Bus-Id Disp.A", "Volatile Uncorr. ECC")
_FIGURE_COLUMNS = ("Fan Temp Perf Pwr:Usage/Cap", "Memory-Usage", "GPU-Util Compute M.")
_SLICE_COLUMNS = ("", "", "MIG M.")
_PERSISTENCE = "Persistence-M"
_MODELS = ("TCC/WDDM", "Driver-Model")
"""What Windows shows in the place of the persistence mode."""

_NAME = re.compile(r"(\d{1,4}) +(\S.*?) +(\S+)", re.ASCII)
_BUS = re.compile(r"(\S+)(?: +\S+)?")
_SENSORS = re.compile(r"(\S+) +(\S+) +(\S+) +(\S.*?) +/ +(\S.*)")
_MEMORY = re.compile(r"(\S.*?) +/ +(\S.*)")
_LOAD = re.compile(r"(\S+) +(\S.*)")


@dataclass(frozen=True)
class _Layout:
    """Which columns the header names."""

    persistence: bool
    slices: bool


def _begins(line: str) -> bool:
    return line.startswith("| NVIDIA-SMI ")


def _read(lines: Sequence[str]) -> Section:
    rows = Rows(lines)
    found = _HEADER.fullmatch(rows.row().strip())
    if found is None:
        raise EvidenceError(0, "a header that is not known here")
    layout = _layout(rows)
    readings: list[BoardReading] = []
    starts: list[int] = []
    while rows.is_row() and not rows.is_border():
        starts.append(rows.place)
        readings.append(_board(rows, layout))
    if not readings:
        raise rows.error("a table without boards")
    rows.refuse_elision()
    require_distinct(readings, starts)
    slices: dict[Instances, int] = {}
    if rows.find_table("MIG devices:"):
        readings, slices = read_slices(rows, readings)
    if rows.find_table("Processes:"):
        readings = with_processes(rows, readings, slices)
    versions = {
        name: or_none(partial(words.version, text or ""))
        for name, text in found.groupdict().items()
    }
    return Section(
        Evidence(
            backend="cuda",
            source=_TOOL,
            boards=tuple(readings),
            versions={name: version for name, version in versions.items() if version is not None},
        ),
        rows.place,
    )


def _layout(rows: Rows) -> _Layout:
    rows.border()
    name, *others = (" ".join(cell.split()) for cell in rows.cells(3))
    first, _, mode = name.rpartition(" ")
    figures = tuple(" ".join(cell.split()) for cell in rows.cells(3))
    slices = False
    if not rows.is_border():
        slices = tuple(rows.cells(3)) == _SLICE_COLUMNS
        if not slices:
            raise rows.error("columns that are not known here")
    if (
        (first, *others) != _NAME_COLUMNS
        or figures != _FIGURE_COLUMNS
        or mode not in (_PERSISTENCE, *_MODELS)
    ):
        raise rows.error("columns that are not known here")
    rows.border()
    return _Layout(mode == _PERSISTENCE, slices)


def _board(rows: Rows, layout: _Layout) -> BoardReading:
    start = rows.place
    naming, bus, ecc = rows.cells(3)
    sensors, held, load = rows.cells(3)
    slicing = rows.cells(3)[2] if layout.slices else None
    rows.border()
    named, at = _NAME.fullmatch(naming), _BUS.fullmatch(bus)
    if named is None or at is None:
        raise EvidenceError(start, "no number, name and address of a board")
    number, name, mode = named.groups()
    telemetry = _telemetry(sensors, held, load)
    info = board(
        index=int(number),
        name=or_none(partial(words.name, name)) or "",
        pci=or_none(partial(pci_address, at[1])),
        total_memory=None if telemetry is None else telemetry.memory_total,
    )
    errors = words.gathered(
        MemoryErrors, {"uncorrected": _reader("Volatile Uncorr. ECC", ecc, count)}
    )
    is_lost = words.LOST in {naming, name, bus, ecc, sensors, held, load}
    checks = memory_checks(errors) if errors else []
    health = HealthReport.of(checks) if checks else None
    return BoardReading(
        board=info,
        details=_details(mode if layout.persistence else None, ecc, load, slicing),
        telemetry=telemetry,
        health=unreachable(words.LOST) if is_lost else health,
        memory_errors=errors,
    )


def _telemetry(sensors: str, held: str, load: str) -> Telemetry | None:
    _, degrees, _, power, limit = _pieces(_SENSORS, sensors)
    used, total = _pieces(_MEMORY, held)
    busy, _ = _pieces(_LOAD, load)
    return words.gathered(
        Telemetry,
        {
            "temperature": _reader("Temp", degrees, words.celsius),
            "power": _reader("Pwr:Usage", power, words.watts),
            "power_limit": _reader("Pwr:Cap", limit, words.watts),
            "utilization": _reader("GPU-Util", busy, words.percent),
            "memory_used": _reader("Memory-Usage", used, words.memory),
            "memory_total": _reader("Memory-Usage", total, words.memory),
        },
    )


def _details(
    persistence: str | None, ecc: str, load: str, slicing: str | None
) -> BoardDetails | None:
    _, mode = _pieces(_LOAD, load)
    readers: dict[str, Callable[[], Any]] = {
        "compute_mode": _reader("Compute M.", mode, words.compute_mode),
        # The count of errors stands for ECC that is on; on a board cut into slices it reads "On".
        "ecc": lambda: (
            or_none(partial(count, ecc)) is not None
            or _reader("Volatile Uncorr. ECC", ecc, words.on_off)()
        ),
    }
    if persistence is not None:
        readers["persistence"] = _reader("Persistence-M", persistence, words.on_off)
    if slicing is not None:
        readers["partitioned"] = _reader("MIG M.", slicing, words.enabled)
    return words.gathered(BoardDetails, readers)


def _pieces(form: re.Pattern[str], cell: str) -> Sequence[str]:
    """The words of a cell; a cell of another form (one word for all) stands for each of them."""
    found = form.fullmatch(cell)
    return [cell] * form.groups if found is None else found.groups()


def _reader(column: str, cell: str, read: Callable[[str], Any]) -> Callable[[], Any]:
    return partial(Page(column, cell).read, read)


BOARD_TABLE = EvidenceReader(_TOOL, _begins, _read)
