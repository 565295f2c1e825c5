"""The bases under torch.cuda.Stream and torch.cuda.Event, over the simulation's."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from accelhal_mock.simulation import Event, Stream
from vendor_stacks.cuda import boards

CUDA_DEVICE_TYPE = 1
"""c10::DeviceType::CUDA (c10/core/DeviceType.h)."""

_FIRST_HANDLE = 0x5000_0000
_HANDLES_PER_BOARD = 0x1000


def name_of(stream: Stream) -> tuple[int, int, int]:
    """(stream_id, device_index, device_type), by which torch.cuda asks for the object."""
    return stream.number, stream.board.index, CUDA_DEVICE_TYPE


def make_stream_base(torch_c: ModuleType) -> type:
    """torch._C._CudaStreamBase, a subclass of torch's own stream."""
    torch_stream: Any = torch_c.Stream

    class _CudaStreamBase(torch_stream):
        simulated: Stream

        def __new__(
            cls,
            priority: int = 0,
            stream_id: int = 0,
            device_index: int = 0,
            device_type: int = 0,
            stream_ptr: int = 0,
        ) -> Any:
            if stream_ptr:
                raise NotImplementedError("streams of other libraries are not simulated")
            if stream_id or device_index or device_type:  # as THCPStream_pynew tells them apart
                simulated = boards.stream(stream_id, device_index)
            else:
                simulated = boards.visible_machine().board().create_stream(priority)
            number, index, device_type = name_of(simulated)
            made: Any = torch_stream.__new__(
                cls, stream_id=number, device_index=index, device_type=device_type
            )
            made.simulated = simulated
            return made

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            pass

        @property
        def cuda_stream(self) -> int:
            # A number in place of the driver's pointer; the default stream's is 0.
            number, index, _ = name_of(self.simulated)
            return _FIRST_HANDLE + index * _HANDLES_PER_BOARD + number if number else 0

        @property
        def priority(self) -> int:
            return self.simulated.priority

        def query(self) -> bool:
            from accelhal_mock.python_mode.waiting import is_done

            return is_done(self.simulated)

        def synchronize(self) -> None:
            from accelhal_mock.python_mode.waiting import wait_for

            wait_for(self.simulated)

        @staticmethod
        def priority_range() -> tuple[int, int]:
            return 0, -5

    return _CudaStreamBase


def make_event_base(torch_c: ModuleType) -> type:
    """torch._C._CudaEventBase, a subclass of torch's own event."""
    torch_event: Any = torch_c.Event

    class _CudaEventBase(torch_event):
        simulated: Event

        def __new__(
            cls,
            enable_timing: bool = False,
            blocking: bool = False,
            interprocess: bool = False,
            external: bool = False,
        ) -> Any:
            made: Any = torch_event.__new__(cls, device="cpu")
            made.simulated = Event(enable_timing)
            return made

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            pass

        @property
        def device(self) -> Any:
            import torch

            board = self.simulated.board
            return None if board is None else torch.device("cuda", board.index)

        @property
        def cuda_event(self) -> int:
            return id(self.simulated) if self.simulated.board is not None else 0

        def record(self, stream: Any) -> None:
            self.simulated.record(stream.simulated)

        def wait(self, stream: Any) -> None:
            stream.simulated.wait_event(self.simulated)

        def query(self) -> bool:
            from accelhal_mock.python_mode.waiting import is_done

            return is_done(self.simulated)

        def elapsed_time(self, other: Any) -> float:
            return self.simulated.elapsed_time(other.simulated)

        def synchronize(self) -> None:
            from accelhal_mock.python_mode.waiting import wait_for

            wait_for(self.simulated)

        @classmethod
        def from_ipc_handle(cls, device: Any, ipc_handle: bytes) -> Any:
            raise NotImplementedError("events of simulated boards do not travel")

        def ipc_handle(self) -> bytes:
            raise NotImplementedError("events of simulated boards do not travel")

    return _CudaEventBase
