"""Slices of a chip (vNPU), which the driver makes and numbers: listed and read, never changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from accelhal.drivers.library import roomy
from accelhal.drivers.readings import NotReportedError, Once, collect, in_range, or_none
from accelhal.errors import AccelhalError
from accelhal.facts import BoardKey, Partition, Telemetry
from accelhal_ascend.dcmi import Dcmi, text_of
from accelhal_ascend.dcmi_boards import Board
from accelhal_ascend.dcmi_structs import VNPUS, ChipResources, ComputeShare, VnpuInfo, VnpuQuery

_ONE, _ALL, _USE = (52, 0), (52, 1), (52, 5)
"""Main and sub command of dcmi_get_device_info: one vNPU, those of the chip, and the use of one."""

_MEBIBYTE = 1 << 20


def slices(dcmi: Dcmi, chip: Board) -> list[Board]:
    """The chip's slices as boards of their own; none of a chip that does not answer."""
    try:
        numbers = _numbers(dcmi.info(chip.address, _ALL, ChipResources))
        return [_slice(dcmi, chip, number) for number in numbers]
    except (AccelhalError, NotReportedError):
        return []


def _slice(dcmi: Dcmi, chip: Board, number: int) -> Board:
    info = replace(
        chip.info,
        key=slice_key(number),
        index=None,
        uuid=None,
        serial=None,
        tool_id=None,
        total_memory=or_none(partial(_total_memory, dcmi, chip, number)),
        parent=chip.info.key,
    )
    return Board(info, chip.address, chip.a3, number)


def slice_key(number: int) -> BoardKey:
    """The slice's key: its file under /dev."""
    return BoardKey("npu", "logic-id", f"vdavinci{number}")


def partitions(dcmi: Dcmi, chip: Board) -> list[Partition]:
    """The chip's slices with their share of it, and what gives them to a container."""
    assert chip.info.key is not None, "every listed board has one"
    resources = or_none(partial(dcmi.info, chip.address, _ALL, ChipResources))
    if resources is None:
        return []
    return [
        Partition(
            key=slice_key(number),
            parent=chip.info.key,
            profile=or_none(partial(_profile, dcmi, chip, number)) or "vNPU",
            total_memory=or_none(partial(_total_memory, dcmi, chip, number)),
            compute_share=or_none(partial(_share, dcmi, chip, number, resources)),
            # The container runtime's; the variables of whole chips know no slices.
            environment={
                "ASCEND_VISIBLE_DEVICES": str(number),
                "ASCEND_RUNTIME_OPTIONS": "VIRTUAL",
            },
        )
        for number in _numbers(resources)
    ]


def is_cut(dcmi: Dcmi, chip: Board) -> bool:
    """Whether the chip is cut into slices."""
    return bool(_numbers(dcmi.info(chip.address, _ALL, ChipResources)))


def telemetry(dcmi: Dcmi, board: Board) -> Telemetry:
    """A slice's own figures; its sensors are the chip's."""
    assert board.vnpu is not None, "of a slice"
    use = Once(partial(_use, dcmi, board, board.vnpu))
    read = collect(
        Telemetry,
        {
            "utilization": lambda: use().vdev_aicore_utilization,
            "memory_used": lambda: (use().vdev_memory_total - use().vdev_memory_free) * _MEBIBYTE,
            "memory_total": lambda: use().vdev_memory_total * _MEBIBYTE,
        },
    )
    whole = "a slice has no sensor of its own: ask the board it is cut from"
    own = ("utilization", "memory_used", "memory_total")
    reasons = {name: why if name in own else whole for name, why in read.reasons.items()}
    return replace(read, reasons=reasons)


def _numbers(resources: ChipResources) -> Sequence[int]:
    listed: Sequence[int] = resources.vdev_id[: min(resources.vdev_num, VNPUS)]
    return list(dict.fromkeys(listed))


def _query(dcmi: Dcmi, chip: Board, command: tuple[int, int], number: int) -> VnpuInfo:
    found = roomy(VnpuQuery)
    found[0].vdev_id = number
    dcmi.fill(chip.address, command, found)
    return found[0].query_info  # type: ignore[no-any-return]


def _use(dcmi: Dcmi, chip: Board, number: int) -> ComputeShare:
    computing: ComputeShare = _query(dcmi, chip, _USE, number).computing
    if not 0 < computing.vdev_memory_total >= computing.vdev_memory_free:
        raise NotReportedError("the driver answered a slice without memory")
    return computing


def _total_memory(dcmi: Dcmi, chip: Board, number: int) -> int:
    total = _query(dcmi, chip, _ONE, number).computing.memory_size * _MEBIBYTE
    if total == 0:
        total = _use(dcmi, chip, number).vdev_memory_total * _MEBIBYTE
    return int(in_range("memory_total", total))


def _profile(dcmi: Dcmi, chip: Board, number: int) -> str:
    """Name of the template the slice was made from ("vir04")."""
    return text_of(_query(dcmi, chip, _ONE, number).name)


def _share(dcmi: Dcmi, chip: Board, number: int, whole: ChipResources) -> float:
    """AI cores of the slice over those of the chip."""
    own, total = _query(dcmi, chip, _ONE, number).computing.aic, whole.computing.aic
    if not 0 < own <= total < math.inf:  # false for NaN too
        raise NotReportedError(f"the driver answered {own:g} AI cores of {total:g}")
    return float(own / total)
