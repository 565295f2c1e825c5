"""Boards as tables for people and as JSON for programs, whether live or from evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from accelhal.facts import BoardInfo, BoardReading, HealthStatus

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

NOTHING = "-"

_ENDLESS = 10_000
"""Columns of a console that folds no table of boards."""

_HEALTH_COLOURS = {
    HealthStatus.OK: "green",
    HealthStatus.DEGRADED: "yellow",
    HealthStatus.FAILED: "red",
    HealthStatus.UNKNOWN: "dim",
}


def board_document(board: BoardInfo) -> dict[str, Any]:
    """A board as `devices --json` has it."""
    return {
        "address": board.pci,
        "vendor": board.vendor,
        "name": board.name,
        "driver": board.driver,
        "numa_node": board.numa_node,
        "backend": board.backend,
        "source": board.source,
        "index": board.index,
        "uuid": board.uuid,
        "serial": board.serial,
        "total_memory": board.total_memory,
        "parent": board.parent.value if board.parent else None,
    }


def reading_document(reading: BoardReading) -> dict[str, Any]:
    """The same with what was seen of its sensors and health."""
    seen, health = reading.telemetry, reading.health
    return {
        **board_document(reading.board),
        "temperature": seen and seen.temperature,
        "power": seen and seen.power,
        "power_limit": seen and seen.power_limit,
        "utilization": seen and seen.utilization,
        "memory_used": seen and seen.memory_used,
        "health": health and health.status.value,
    }


def board_table(boards: Sequence[BoardInfo]) -> Table:
    """A row for each board."""
    from rich.text import Text

    return _rows([BoardReading(board) for board in boards], {}, Text("none", "yellow"))


def reading_tables(readings: Sequence[BoardReading], out: Console) -> list[Table]:
    """The same with a column for each figure that was seen of any board.

    Where that is wider than the console, the figures are a table of their own.
    """
    columns = {
        name: cell for name, cell in _SEEN.items() if any(cell(r) is not None for r in readings)
    }
    whole = _rows(readings, columns, NOTHING)
    if not columns or unfolded_width(whole) <= out.width:
        return [whole]
    figures = empty_table("Board", *columns)
    for reading in readings:
        cells = (cell(reading) or NOTHING for cell in columns.values())
        figures.add_row(_label(reading.board), *cells)
    return [_rows(readings, {}, NOTHING), figures]


def _rows(
    readings: Sequence[BoardReading],
    columns: Mapping[str, Callable[[BoardReading], str | Text | None]],
    no_driver: str | Text,
) -> Table:
    from rich.text import Text

    made = empty_table("Board", "Vendor", "Device", "Memory", "Driver", "NUMA", "Backend", *columns)
    for reading in readings:
        board = reading.board
        memory = board.total_memory
        made.add_row(
            _label(board),
            board.vendor,
            board.name.removeprefix("PCI device ") or NOTHING,
            NOTHING if memory is None else f"{memory / 2**30:.0f} GiB",
            board.driver or no_driver,
            NOTHING if board.numa_node is None else str(board.numa_node),
            board.backend or Text("no plugin", "yellow"),
            *(cell(reading) or NOTHING for cell in columns.values()),
        )
    return made


def _label(board: BoardInfo) -> str:
    """Its place, indented where it is a slice of the board above."""
    return ("  " if board.parent else "") + _place(board)


def _place(board: BoardInfo) -> str:
    """Where a board is on the bus, or how its driver or tool calls it."""
    number = board.tool_id or (None if board.index is None else str(board.index))
    return board.pci or (NOTHING if number is None else f"{board.backend} {number}")


def _figure(name: str, unit: str, scale: float = 1.0) -> Callable[[BoardReading], str | None]:
    def cell(reading: BoardReading) -> str | None:
        value = None if reading.telemetry is None else getattr(reading.telemetry, name)
        return None if value is None else f"{value / scale:.0f} {unit}"

    return cell


def _health(reading: BoardReading) -> Text | None:
    from rich.text import Text

    if reading.health is None:
        return None
    return Text(reading.health.status.value, _HEALTH_COLOURS[reading.health.status])


_SEEN: Mapping[str, Callable[[BoardReading], str | Text | None]] = {
    "Temp.": _figure("temperature", "°C"),
    "Power": _figure("power", "W"),
    "Load": _figure("utilization", "%"),
    "Used": _figure("memory_used", "MiB", 2**20),
    "Health": _health,
}


def empty_table(*columns: str) -> Table:
    """An empty table in the house's style."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, overflow="fold")
    return made


def unfolded_width(table: Table) -> int:
    """Columns that a table takes where no cell is folded."""
    from rich.console import Console
    from rich.measure import Measurement

    endless = Console(width=_ENDLESS)
    return Measurement.get(endless, endless.options, table).maximum
