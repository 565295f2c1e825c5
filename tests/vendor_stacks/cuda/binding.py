"""The functions that a CUDA build adds to torch._C, over the simulated boards.

Names and parameters are those of torch's own declaration, torch/_C/__init__.pyi.
"""

from __future__ import annotations

import ctypes
from types import ModuleType, SimpleNamespace
from typing import Any

from vendor_stacks.cuda import boards
from vendor_stacks.cuda.properties import make_properties
from vendor_stacks.cuda.settings import settings
from vendor_stacks.cuda.streams import name_of

CUDA_VERSION = "13.0"


def _cuda_init() -> None:
    """What the C++ of a CUDA build does once: kernels, generators, and two names of torch.cuda."""
    import torch.cuda
    from vendor_stacks.cuda.tensors import register_tensors

    machine = boards.visible_machine()
    if machine.bad_fork:
        raise RuntimeError("CUDA error: initialization error")
    machine.initialized = True
    cuda: Any = torch.cuda
    cuda.default_generators = register_tensors(machine)
    cuda._get_device_properties = make_properties


def _cuda_isInBadFork() -> bool:
    machine = boards.machine() if boards.machine.cache_info().currsize else None
    return machine is not None and machine.bad_fork


# ---- devices


def _cuda_getDeviceCount() -> int:
    machine = boards.machine()
    if machine is None:
        return 0
    machine.initialized = True  # a process that is forked after this cannot use CUDA
    return len(machine.boards)


def _cuda_getDevice() -> int:
    return boards.visible_machine().current_device()


def _cuda_setDevice(device: int) -> None:
    boards.visible_machine().set_device(device)


def _cuda_exchangeDevice(device: int) -> int:
    if device < 0:
        return -1
    before = _cuda_getDevice()
    _cuda_setDevice(device)
    return before


def _cuda_maybeExchangeDevice(device: int) -> int:
    return _cuda_exchangeDevice(device)


def _cuda_synchronize() -> None:
    from accelhal_mock.python_mode.waiting import wait_for

    wait_for(boards.visible_machine().board())


def _cuda_canDeviceAccessPeer(device: int, peer_device: int) -> bool:
    return boards.visible_machine().can_access_peer(device, peer_device)


def _cuda_getArchFlags() -> str | None:
    return None


# ---- streams


def _cuda_getCurrentStream(device: int) -> tuple[int, int, int]:
    return name_of(boards.board(device).current_stream())


def _cuda_getDefaultStream(device: int) -> tuple[int, int, int]:
    return name_of(boards.board(device).default_stream)


def _cuda_getCurrentRawStream(device: int) -> int:
    """The address that torch.compile's code hands to kernels; none is started here."""
    return boards.board(device).current_stream().id


def _cuda_setStream(stream_id: int, device_index: int, device_type: int) -> None:
    machine = boards.visible_machine()
    machine.set_device(device_index)
    machine.set_stream(boards.stream(stream_id, device_index))


# ---- memory


def _cuda_memoryStats(device: int) -> dict[str, Any]:
    from accelhal_mock.python_mode.memory import nested_memory_stats

    return nested_memory_stats(device)


def _cuda_resetPeakMemoryStats(device: int) -> None:
    boards.board(device).memory.reset_peaks()


def _cuda_resetAccumulatedMemoryStats(device: int) -> None:
    boards.board(device).memory.reset_accumulated()


def _cuda_emptyCache() -> None:
    for board in boards.visible_machine().boards:
        board.memory.empty_cache()


def _cuda_setMemoryFraction(fraction: float, device: int) -> None:
    boards.board(device).memory.set_fraction(fraction)


def _cuda_getMemoryFraction(device: int) -> float:
    return boards.board(device).memory.fraction


def _host_emptyCache() -> None:
    """Nothing to return: pinned memory is given back when it is dropped."""


_CUDART = SimpleNamespace(
    cudaError=SimpleNamespace(success=0),
    cudaMemGetInfo=lambda device: boards.board(device).memory.mem_get_info(),
)
"""torch._C._cudart: the part of the CUDA runtime that torch.cuda calls directly."""

FUNCTIONS = {
    name: value for name, value in vars().items() if name.startswith("_cuda_") and callable(value)
}


def install(module: ModuleType) -> None:
    """Put everything into torch._C, before torch.cuda is imported."""
    ctypes.CDLL(settings().guard)
    from vendor_stacks.cuda import graphs, streams

    names: dict[str, Any] = {
        **FUNCTIONS,
        "_host_emptyCache": _host_emptyCache,
        "_has_cuda": True,
        "_cudart": _CUDART,
        "_CudaStreamBase": streams.make_stream_base(module),
        "_CudaEventBase": streams.make_event_base(module),
        "_CUDAGraph": graphs._CUDAGraph,
        "_graph_pool_handle": graphs._graph_pool_handle,
        "_cuda_isCurrentStreamCapturing": graphs._cuda_isCurrentStreamCapturing,
    }
    vars(module).update(names)
