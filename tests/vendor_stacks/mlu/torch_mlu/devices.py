"""The calls of torch.mlu about devices that both forms have alike."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import torch
from accelhal_mock.python_mode import devices as boards
from accelhal_mock.python_mode.waiting import wait_for
from accelhal_mock.simulation import Board

from torch_mlu import process
from torch_mlu.errors import CnrtError

BFLOAT16_FROM = 5
"""`major` of the first chips with bfloat16 arithmetic; torch_mlu 1.25 compares with it."""

_CORES_PER_CLUSTER = 4
_CNDEV_CHECK = "PYTORCH_CNDEV_BASED_MLU_CHECK"


def init() -> None:
    process.lazy_init()


def is_initialized() -> bool:
    return process.is_initialized()


def device_count() -> int:
    """By libcndev.so where it loads, else by the driver."""
    if process.SETTINGS.cndev and not is_initialized():
        return len(process.VISIBLE)
    return process.count_by_driver()


def is_available() -> bool:
    """By the driver, unless the variable asks for CNDev."""
    if os.environ.get(_CNDEV_CHECK) == "1":
        return device_count() > 0
    return process.count_by_driver() > 0


def current_device() -> int:
    process.lazy_init()
    return boards.current_device()


def set_device(device: Any) -> None:
    if boards.index_of(device) is not None and boards.index_of(device) < 0:
        return
    process.lazy_init()
    boards.set_device(device)


def synchronize(device: Any = None) -> None:
    process.lazy_init()
    wait_for(boards.board_of(device))


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    process.lazy_init()
    if boards.index_of(peer_device) is None:
        raise ValueError("Expected a torch.device with a specified index or an integer")
    return boards.can_device_access_peer(device, peer_device)


def get_device_name(device: Any = None) -> str:
    return str(properties_of(device).name)


def get_device_capability(device: Any = None) -> tuple[int, int]:
    found = properties_of(device)
    return found.major, found.minor


def properties_of(device: Any) -> SimpleNamespace:
    """A board's properties, by the names of torch_mlu's C++ class; none is a UUID."""
    process.lazy_init()
    index = boards.index_of(device)
    if index is not None and not 0 <= index < device_count():
        raise AssertionError("Invalid device id")
    return _properties(boards.board_of(index))


def _properties(board: Board) -> SimpleNamespace:
    isa = int((board.profile.arch or "mtp_592").removeprefix("mtp_"))
    clusters = (board.profile.compute_units or 48) // _CORES_PER_CLUSTER
    return SimpleNamespace(
        name=board.profile.product,
        major=isa // 100,
        minor=isa // 10 % 10,
        isa_version=isa,
        multi_processor_count=clusters * _CORES_PER_CLUSTER,
        cluster_count=clusters,
        core_num_per_cluster=_CORES_PER_CLUSTER,
        total_memory=board.memory.capacity,
        supports_linear_memory=True,
    )


def has_bfloat16() -> bool:
    return int(properties_of(current_device()).major) >= BFLOAT16_FROM


def is_fp8_supported(including_emulation: bool = True) -> bool:
    return False


def check_error(res: int) -> None:
    if res != 0:
        raise CnrtError(res)


def ipc_collect() -> None:
    process.lazy_init()


class device:
    """Context in which a device is current; entering it initialises."""

    def __init__(self, device: Any) -> None:
        self.idx = boards.index_of(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        process.lazy_init()
        self.prev_idx = boards.exchange_device(-1 if self.idx is None else self.idx)

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:  # noqa: A002
        boards.exchange_device(self.prev_idx)


class device_of(device):
    """Context in which the device of a tensor is current."""

    def __init__(self, obj: torch.Tensor) -> None:
        super().__init__(obj.device if obj.device.type == "mlu" else -1)
