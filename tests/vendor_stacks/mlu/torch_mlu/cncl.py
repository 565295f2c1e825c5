"""A collective library named "cncl": boards' tensors travel through host memory and gloo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist


class HostedGroup(dist.ProcessGroup):
    """A process group that does its collectives on copies of the tensors in host memory."""

    def __init__(self, rank: int, size: int, gloo: Any) -> None:
        super().__init__(rank, size)
        self._gloo = gloo

    def getBackendName(self) -> str:
        return "cncl"

    def allreduce(self, tensors: Sequence[torch.Tensor], opts: Any = None) -> Any:
        return self._hosted(tensors, lambda copies: self._gloo.allreduce(copies, opts))

    def broadcast(self, tensors: Sequence[torch.Tensor], opts: Any = None) -> Any:
        return self._hosted(tensors, lambda copies: self._gloo.broadcast(copies, opts))

    def barrier(self, opts: Any = None) -> Any:
        return self._gloo.barrier()

    def _hosted(
        self, tensors: Sequence[torch.Tensor], collective: Callable[[list[torch.Tensor]], Any]
    ) -> Any:
        copies = [tensor.cpu() for tensor in tensors]
        collective(copies).wait()
        for tensor, copy in zip(tensors, copies, strict=True):
            tensor.copy_(copy)
        done: torch.futures.Future[list[torch.Tensor]] = torch.futures.Future()
        done.set_result(list(tensors))
        return torch._C._distributed_c10d._create_work_from_future(done)


def _create(store: Any, rank: int, size: int, timeout: Any) -> HostedGroup:
    inner = dist.PrefixStore("hosted", store)
    return HostedGroup(rank, size, dist.ProcessGroupGloo(inner, rank, size, timeout))


def register() -> None:
    """Let torch.distributed know the library."""
    if dist.is_available():
        dist.Backend.register_backend("cncl", _create, devices=["mlu"])
