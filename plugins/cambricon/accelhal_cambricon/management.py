"""Management over CNDev: boards and their slices, sensors, health, links, processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from accelhal.drivers.readings import or_none
from accelhal.errors import AccelhalError, DeviceNotFoundError, DeviceUnhealthyError
from accelhal.facts import (
    BoardDetails,
    BoardInfo,
    BoardKey,
    HealthReport,
    Link,
    MemoryErrors,
    Partition,
    PcieLink,
    ProcessMemory,
    Relation,
    Telemetry,
    VendorCommands,
)
from accelhal.spi import Management
from accelhal_cambricon import cndev_figures as figures, cndev_links, cndev_partitions as slices
from accelhal_cambricon.cndev import Cndev
from accelhal_cambricon.cndev_boards import Board, aliases, list_boards, with_uuid
from accelhal_cambricon.cndev_health import judge, silent
from accelhal_cambricon.cndev_memory import memory_errors
from accelhal_cambricon.cndev_sources import SOURCES


class CndevManagement(Management):
    """The boards of Cambricon's driver, each known by its place, its UUID and its PCI address.

    Raises:
        BackendLoadError: the library does not load, or does not start.
    """

    sources = SOURCES

    def __init__(self) -> None:
        self._cndev = Cndev()
        self._boards: dict[BoardKey, Board] = {}

    def boards(self) -> Sequence[BoardInfo]:
        found: dict[BoardKey | None, Board] = {}
        for board in list_boards(self._cndev):
            for one in (board, *slices.slice_boards(self._cndev, board)):
                found.setdefault(one.info.key, one)
        listed = list(found.values())
        # What was listed once keeps its UUID: a board that stops answering does not tell it.
        self._boards.update({name: board for board in reversed(listed) for name in aliases(board)})
        return [board.info for board in listed]

    def telemetry(self, board: BoardKey) -> Telemetry:
        place = self._board(board)
        handle = _handle(place)
        if place.slice is not None:
            return slices.telemetry(self._cndev, place, handle)
        return figures.telemetry(self._cndev, handle)

    def details(self, board: BoardKey) -> BoardDetails:
        handle = _handle(self._board(board))
        return figures.details(self._cndev, handle, partial(slices.is_cut, self._cndev, handle))

    def memory_errors(self, board: BoardKey) -> MemoryErrors:
        return memory_errors(self._cndev, _handle(self._board(board)))

    def pcie(self, board: BoardKey) -> PcieLink:
        return cndev_links.pcie(self._cndev, _handle(self._board(board)))

    def health(self, board: BoardKey) -> HealthReport:
        place = self._board(board)
        try:
            handle = _handle(place)
        except AccelhalError as error:
            return silent(error, [])
        return judge(self._cndev, handle, partial(memory_errors, self._cndev, handle))

    def links(self, board: BoardKey) -> Sequence[Link]:
        handle = _handle(self._board(board))
        named = partial(with_uuid, list(self._boards.values()))
        return list(cndev_links.links(self._cndev, handle, named))

    def processes(self, board: BoardKey) -> Sequence[ProcessMemory]:
        place = self._board(board)
        if place.slice is not None:
            return ()  # the driver counts them for the whole board
        return or_none(partial(figures.processes, self._cndev, _handle(place))) or ()

    def partitions(self, board: BoardKey) -> Sequence[Partition]:
        place = self._board(board)
        if place.slice is not None:
            return ()
        return slices.partitions(self._cndev, place, _handle(place))

    def partition_commands(self, board: BoardKey, profile: str) -> VendorCommands:
        index = self._board(board).info.index
        # HAMi's documentation, docs/cambricon-mlu-support.md; of slices themselves none was found.
        mode = "" if index is None else f"; `cnmon set -c {index} -smlu on` lets sMLU be made"
        notes = f"how a slice is made is not known here: `cnmon -h` lists what cnmon can{mode}"
        return VendorCommands(notes=(notes,))

    def removal_commands(self, partition: BoardKey) -> VendorCommands:
        self._board(partition)
        ask = "how a slice is taken away is not known here: `cnmon -h` lists what cnmon can"
        return VendorCommands(notes=(ask,))

    def relation(self, board: BoardKey, other: BoardKey) -> Relation | None:
        one, two = (_handle(self._board(key)) for key in (board, other))
        return cndev_links.relation(self._cndev, one, two)

    def versions(self) -> Mapping[str, str]:
        if not self._boards:
            self.boards()
        handles = [board.handle for board in self._boards.values() if board.handle is not None]
        handles = list(dict.fromkeys(handles))
        texts = {
            "driver": or_none(partial(figures.driver_version, self._cndev, handles)),
            "library": or_none(partial(figures.library_version, self._cndev)),
        }
        return {name: text for name, text in texts.items() if text is not None}

    def _board(self, key: BoardKey) -> Board:
        if key not in self._boards:
            self.boards()
        if key in self._boards:
            return self._boards[key]
        raise DeviceNotFoundError(
            f"mlu: CNDev lists no board with the {key.source} {key.value}",
            backend="mlu",
            operation="management",
            hint="take the key from accelhal.boards()",
        )


def _handle(board: Board) -> int:
    """What the board's calls want.

    Raises:
        DeviceUnhealthyError: the driver counts the board and gives no handle of it.
    """
    if board.handle is None:
        raise DeviceUnhealthyError(
            f"mlu: {board.info.name}", backend="mlu", operation="cndevGetDeviceHandleByIndex"
        )
    return board.handle
