"""Slices of a board, MIM (own units) and sMLU (shared units): listed and read, never changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from accelhal.drivers.readings import NotReportedError, collect, in_range, or_none
from accelhal.errors import AccelhalError
from accelhal.facts import BoardKey, Partition, Telemetry
from accelhal_cambricon.cndev import Cndev, flag, number, text_of, written
from accelhal_cambricon.cndev_boards import Board, board_key, uuid_text
from accelhal_cambricon.cndev_figures import core_count
from accelhal_cambricon.cndev_memory import MEBIBYTE
from accelhal_cambricon.cndev_state_structs import MimInstance, SmluInstance
from accelhal_cambricon.cndev_structs import State
from accelhal_cambricon.masks import VISIBLE_DEVICES

_MOST, _USED = 0, 1
"""cndevSMluItemEnum_t: places in the quota's and the memory's arrays."""


@dataclass(frozen=True)
class Slice:
    """One slice as the driver lists it.

    Attributes:
        number: the driver's, on its board.
        shared: sMLU, not MIM.
        uuid: None where it has none.
        profile: the name it was made from ("1m.8gb").
        memory: bytes.
        share: of the board's compute, 0 to 1.
        memory_used: bytes; None where the driver does not count it.
    """

    number: int
    shared: bool
    uuid: str | None
    profile: str
    memory: int | None
    share: float | None
    memory_used: int | None = None


def read_slices(cndev: Cndev, handle: int) -> list[Slice]:
    """The board's slices; none where neither mode is on."""
    found: list[Slice] = []
    if or_none(partial(_mode, cndev, handle, "cndevGetMimMode")):
        cores = or_none(partial(core_count, cndev, handle))
        listed = or_none(lambda: cndev.read_list("cndevGetAllMluInstanceInfo", MimInstance, handle))
        found += [_mim(entry, cores) for entry in listed or () if entry.instanceId >= 0]
    if or_none(partial(_mode, cndev, handle, "cndevGetSMLUMode")):
        shared = or_none(
            lambda: cndev.read_list("cndevGetAllSMluInstanceInfo", SmluInstance, handle)
        )
        found += [_smlu(entry) for entry in shared or () if entry.instanceId >= 0]
    return list({(one.shared, one.number): one for one in found}.values())


def is_cut(cndev: Cndev, handle: int) -> bool:
    """Whether either mode is on."""
    modes = ("cndevGetMimMode", "cndevGetSMLUMode")
    told = [or_none(partial(_mode, cndev, handle, name)) for name in modes]
    if told == [None, None]:
        raise NotReportedError("the driver knows neither MIM nor sMLU here")
    return True in told


def _mode(cndev: Cndev, handle: int, name: str) -> bool:
    return flag(cndev.read(name, State, handle), "value")


def _mim(entry: MimInstance, cores: int | None) -> Slice:
    return Slice(
        number=entry.instanceId,
        shared=False,
        uuid=or_none(partial(uuid_text, entry)),
        profile=_profile(entry, "MIM"),
        # 32 bits cannot count bytes: it is the unit of all that the driver calls MB.
        memory=_size(lambda: number(entry, "memorySize") * MEBIBYTE),
        share=_share(entry.mluCoreCount, cores),
    )


def _smlu(entry: SmluInstance) -> Slice:
    return Slice(
        number=entry.instanceId,
        shared=True,
        uuid=or_none(partial(uuid_text, entry)),
        profile=_profile(entry, "sMLU"),
        memory=_size(lambda: entry.memorySize[_MOST]) or None,
        share=_share(entry.mluQuota[_MOST], 100),
        memory_used=_size(lambda: entry.memorySize[_USED]),
    )


def _profile(entry: Any, otherwise: str) -> str:
    return or_none(lambda: text_of(written(entry, "profileName"))) or otherwise


def _size(read: Any) -> int | None:
    return or_none(lambda: int(in_range("memory_total", read())))


def _share(own: int, whole: int | None) -> float | None:
    return own / whole if whole and 0 < own <= whole else None


def _key(board: Board, one: Slice) -> BoardKey:
    """The slice's UUID, or its number on its board."""
    if one.uuid is not None:
        return BoardKey("mlu", "uuid", one.uuid)
    return board_key(f"{board.info.index}.{'smlu' if one.shared else 'mi'}{one.number}")


def slice_boards(cndev: Cndev, board: Board) -> Iterator[Board]:
    """The slices as boards of their own; none of a board that does not answer."""
    if board.handle is None:
        return
    try:
        found = read_slices(cndev, board.handle)
    except AccelhalError:
        return
    for one in found:
        info = replace(
            board.info,
            key=_key(board, one),
            name=f"{board.info.name} {one.profile}",
            index=None,
            uuid=one.uuid,
            serial=None,
            total_memory=one.memory or None,
            parent=board.info.key,
        )
        yield Board(info, board.handle, one.number, one.shared)


def partitions(cndev: Cndev, board: Board, handle: int) -> list[Partition]:
    """The board's slices with their share of it, and the variable that selects each."""
    assert board.info.key is not None, "every listed board has one"
    return [
        Partition(
            key=_key(board, one),
            parent=board.info.key,
            profile=one.profile,
            total_memory=one.memory or None,
            compute_share=one.share,
            # The first of the driver's variables goes before the others.
            environment={} if one.uuid is None else {VISIBLE_DEVICES[0].variable: one.uuid},
        )
        for one in read_slices(cndev, handle)
    ]


def telemetry(cndev: Cndev, board: Board, handle: int) -> Telemetry:
    """A slice's own figures; its sensors are the board's."""
    own = {(one.shared, one.number): one for one in read_slices(cndev, handle)}
    one = own.get((board.shared, board.slice or 0))
    whole = "a slice has no sensor of its own: ask the board it is cut from"
    gone = "the driver does not list the slice any more"
    read = collect(
        Telemetry,
        {
            "memory_used": lambda: one and one.memory_used,
            "memory_total": lambda: one and one.memory,
        },
    )
    reasons = {
        name: (gone if one is None else why) if name in ("memory_used", "memory_total") else whole
        for name, why in read.reasons.items()
    }
    return replace(read, reasons=reasons)
