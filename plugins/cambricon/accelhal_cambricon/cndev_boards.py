"""Which boards there are, by handle: their names and keys, and those of their slices."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from accelhal.drivers.library import roomy
from accelhal.drivers.readings import NotReportedError, bus_address, first, in_range, or_none
from accelhal.errors import AccelhalError, DeviceError, DeviceNotFoundError, described
from accelhal.facts import BoardInfo, BoardKey
from accelhal_cambricon.cndev import SOURCE, Cndev, number, text_of, written
from accelhal_cambricon.cndev_memory import read_memory
from accelhal_cambricon.cndev_structs import Count, OldPcieInfo, PcieInfo, Serial, State, Uuid

_MAX_BOARDS = 64
"""More than any host has; a count above it is an answer gone wrong."""

_MAX_NODES = 1 << 10
"""Linux's most NUMA nodes (CONFIG_NODES_SHIFT)."""

_PREFIX = "MLU-"
"""What Cambricon's tools print before the driver's UUID."""


@dataclass(frozen=True)
class Board:
    """A board, or a slice of one, and what CNDev calls it.

    Attributes:
        info: what is known of it.
        handle: of the board; None where the driver gives none.
        slice: the driver's number of the slice; None for a whole board.
        shared: whether the slice is one of sMLU, which shares the units, and not of MIM.
    """

    info: BoardInfo
    handle: int | None
    slice: int | None = None
    shared: bool = False


def list_boards(cndev: Cndev) -> list[Board]:
    """The boards of the host, keyed by the driver's order.

    Raises:
        DeviceError: the driver does not count them.
    """
    try:
        count = number(cndev.read("cndevGetDeviceCount", Count), "number")
    except DeviceNotFoundError:  # the code for "no devices"
        return []
    except NotReportedError as error:
        raise DeviceError(
            f"mlu: the driver does not count its boards: {error}",
            backend="mlu",
            operation="boards",
            hint="cnmon shows whether driver and boards are well",
        ) from None
    found = [_board(cndev, index) for index in range(min(count, _MAX_BOARDS))]
    told = Counter(board.info.uuid for board in found)
    return [board if told[board.info.uuid] == 1 else _without_uuid(board) for board in found]


def _board(cndev: Cndev, index: int) -> Board:
    """A board that does not answer is listed by its place alone."""
    info = BoardInfo(board_key(index), "Cambricon", "MLU", "mlu", SOURCE, index=index)
    handle: int | None = None
    try:
        handle = _handle(cndev, index)
        info = replace(
            info,
            name=or_none(partial(_name, cndev, handle)) or "MLU",
            uuid=or_none(partial(_uuid, cndev, handle)),
            serial=or_none(partial(_serial, cndev, handle)),
            pci=or_none(partial(pci_address, cndev, handle)),
            total_memory=or_none(
                lambda: in_range("memory_total", read_memory(cndev, handle).total)
            ),
            numa_node=or_none(partial(_numa_node, cndev, handle)),
        )
    except (AccelhalError, NotReportedError) as error:
        info = replace(info, name=f"a board that does not answer: {described(error)}")
    return Board(info, handle)


def board_key(place: int | str) -> BoardKey:
    """The key of the board at a place of the driver's order.

    It is what a torch device is traced to, unless the visible-devices variable holds UUIDs.
    """
    return BoardKey("mlu", "visible-order", str(place))


def _without_uuid(board: Board) -> Board:
    return replace(board, info=replace(board.info, uuid=None))


def aliases(board: Board) -> Iterator[BoardKey]:
    """Every key that names the board."""
    info = board.info
    if info.key is not None:
        yield info.key
    if info.uuid is not None:
        yield BoardKey("mlu", "uuid", info.uuid)
        yield BoardKey("mlu", "uuid", _PREFIX + info.uuid)
    if info.pci is not None and board.slice is None:
        yield BoardKey("mlu", "pci", info.pci)


def _handle(cndev: Cndev, index: int) -> int:
    """What calls want; it need not be the index. Before 2.0.11 it was."""
    if not cndev.library.has("cndevGetDeviceHandleByIndex"):
        return index
    found = roomy(ctypes.c_int)
    cndev.library.call("cndevGetDeviceHandleByIndex", index, found)
    return int(found[0])


def _name(cndev: Cndev, handle: int) -> str:
    """The product's name ("MLU370-X8"), or its series' ("MLU370") from older releases."""

    def of_series() -> str:
        series = cndev.read("cndevGetCardName", State, handle).value
        return cndev.text("cndevGetCardNameString", series)

    return first(lambda: cndev.text("cndevGetCardNameStringByDevId", handle), of_series)


def _uuid(cndev: Cndev, handle: int) -> str:
    return uuid_text(cndev.read("cndevGetUUID", Uuid, handle))


def uuid_text(structure: Any) -> str:
    """The UUID in a structure; the tools' prefix is not part of it.

    Raises:
        NotReportedError: it is empty, or all zeros.
    """
    return bare_uuid(text_of(written(structure, "uuid")))


def bare_uuid(text: str) -> str:
    """The driver's UUID in what the driver or its tools print.

    Raises:
        NotReportedError: it is empty, or all zeros.
    """
    text = text.removeprefix(_PREFIX)
    if not set(text) - set("0-"):
        raise NotReportedError("the driver's UUID is empty")
    return text


def _serial(cndev: Cndev, handle: int) -> str:
    """As cnmon prints it: in hexadecimal."""
    found = number(cndev.read("cndevGetCardSN", Serial, handle), "sn")
    if found == 0:
        raise NotReportedError("the driver answered no serial number")
    return f"{found:x}"


def pci_address(cndev: Cndev, handle: int) -> str:
    """domain:bus:device.function as the kernel writes it."""
    found: Any = first(
        lambda: cndev.read("cndevGetPCIeInfoV2", PcieInfo, handle),
        lambda: cndev.read("cndevGetPCIeInfo", OldPcieInfo, handle),
    )
    names = ("domain", "bus", "device", "function")
    return bus_address(*(number(found, name) for name in names))


def _numa_node(cndev: Cndev, handle: int) -> int:
    node = number(cndev.read("cndevGetNUMANodeIdByDevId", State, handle), "value")
    if not 0 <= node < _MAX_NODES:
        raise NotReportedError(f"the driver answered the node {node}")
    return node


def with_uuid(boards: Sequence[Board], uuid: str) -> BoardKey:
    """The key of the board of this host that has the UUID, or one of a board elsewhere."""
    own = (board.info.key for board in boards if board.info.uuid == uuid)
    return next((key for key in own if key is not None), BoardKey("mlu", "uuid", uuid))
