"""Runtime of plain mode: boards with streams and memory under tensors that stay on the cpu."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from accelhal.errors import ErrorKind, UsageError
from accelhal.facts import DeviceProperties, Location, MemoryStats, SupportedDtypes
from accelhal.runtimes.cpu import CpuRuntime
from accelhal.runtimes.error_messages import classify_message
from accelhal.spi import Support
from accelhal_mock import board_facts, installation
from accelhal_mock.plain.streams import PlainEvent, PlainStream
from accelhal_mock.simulation import Board
from accelhal_mock.simulation.error_texts import MESSAGE_KINDS
from accelhal_mock.torch_errors import torch_errors

_EMULATED = (
    "streams",
    "events",
    "memory_info",
    "memory_stats",
    "caching_allocator",
    "memory_fraction",
    "peer_access",
)

_COMPUTE_DTYPES = ("float32", "float16", "bfloat16")


class PlainRuntime(CpuRuntime):
    """The boards installed at the time of each call; what torch does is the cpu's."""

    def __init__(self) -> None:
        super().__init__()
        installation.machine().errors = torch_errors()

    # ---- identity

    def device_count(self) -> int:
        return installation.board_count("plain")

    def properties(self, index: int) -> DeviceProperties:
        return board_facts.properties(_board(index))

    def capabilities(self, index: int) -> Mapping[str, Support]:
        inherited = super().capabilities(index)
        kept = {
            name: inherited[name] for name in ("autocast", "float32_precision") if name in inherited
        }
        return {**kept, **dict.fromkeys(_EMULATED, Support.EMULATED)}

    def supported_dtypes(self, index: int) -> SupportedDtypes:
        unsupported = _board(index).profile.unsupported
        compute = frozenset(
            getattr(torch, name) for name in _COMPUTE_DTYPES if name not in unsupported
        )
        cpu = super().supported_dtypes(index)
        return SupportedDtypes(cpu.storage, compute, cpu.autocast & compute)

    def locate(self, index: int) -> Location:
        return Location(board_facts.key(_board(index)))

    # ---- the current device

    def current_device(self) -> int:
        return installation.machine().current_device()

    def set_device(self, index: int) -> None:
        installation.machine().set_device(index)

    # ---- execution

    def synchronize(self, index: int) -> None:
        _board(index).synchronize()

    def create_stream(self, index: int, priority: int = 0) -> PlainStream:  # type: ignore[override]
        return PlainStream(_board(index).create_stream(priority))

    def current_stream(self, index: int) -> PlainStream:  # type: ignore[override]
        return PlainStream(installation.machine().current_stream(index))

    def default_stream(self, index: int) -> PlainStream:  # type: ignore[override]
        return PlainStream(_board(index).default_stream)

    def set_stream(self, index: int, stream: PlainStream) -> None:  # type: ignore[override]
        if stream.device_index != index:
            raise UsageError(
                f"{stream.stream} cannot be current on board {index}",
                operation="set_stream",
                hint="make the stream with this device's Stream()",
            )
        installation.machine().set_stream(stream.stream)

    def create_event(  # type: ignore[override]
        self, index: int, enable_timing: bool = False, blocking: bool = False
    ) -> PlainEvent:
        return PlainEvent(enable_timing)

    # ---- memory

    def mem_get_info(self, index: int) -> tuple[int, int]:
        return _board(index).memory.mem_get_info()

    def memory_allocated(self, index: int) -> int:
        return _board(index).memory.allocated()

    def max_memory_allocated(self, index: int) -> int:
        return _board(index).memory.peak_allocated()

    def memory_reserved(self, index: int) -> int:
        return _board(index).memory.reserved()

    def max_memory_reserved(self, index: int) -> int:
        return _board(index).memory.peak_reserved()

    def memory_stats(self, index: int) -> MemoryStats:
        return board_facts.memory_stats(_board(index))

    def reset_peak_memory_stats(self, index: int) -> None:
        _board(index).memory.reset_peaks()

    def empty_cache(self, index: int) -> None:
        _board(index).memory.empty_cache()

    def set_per_process_memory_fraction(self, index: int, fraction: float) -> None:
        _board(index).memory.set_fraction(fraction)

    def can_access_peer(self, index: int, peer: int) -> bool:
        return installation.machine().can_access_peer(index, peer)

    # ---- errors

    def classify_error(self, error: BaseException) -> ErrorKind:
        return classify_message(error, MESSAGE_KINDS)


def _board(index: int) -> Board:
    return installation.machine().board(index)
