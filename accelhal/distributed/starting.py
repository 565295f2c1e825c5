"""`init()`: from a launcher's environment to a process group on this rank's device."""

from __future__ import annotations

import math
import os
import socket
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import Store

from accelhal.distributed.environment import RankEnvironment, read_environment
from accelhal.distributed.introductions import Introduction, check_fit
from accelhal.distributed.meeting import meet, open_store
from accelhal.errors import DeviceNotFoundError, DistributedError, UsageError, message_of
from accelhal.facade import Device, device as named_device, devices
from accelhal.facts import BoardKey

TIMEOUT_S = 600.0
"""torch's own limit for the collective libraries of accelerators."""

_HOST_LIBRARY = "gloo"
"""What moves tensors of the processor; torch brings it everywhere."""

_HOST = "cpu"


@dataclass(frozen=True)
class Rank:
    """This process among the others.

    Attributes:
        rank: its number in the world.
        world_size: processes in the world.
        local_rank: its number on this host.
        device: its device, made current.
        library: the collective library for tensors of that device.
    """

    rank: int
    world_size: int
    local_rank: int
    device: Device
    library: str


def init(device: str | torch.device | Device | None = None, *, timeout: float = TIMEOUT_S) -> Rank:
    """Join the group that a launcher started this process for.

    Every rank introduces itself before the group is made, so that ranks which do not fit together
    learn it from an error and not from a hang.

    Args:
        device: a backend ("cpu"), of which this rank takes the device of its local number; or one
            device ("cpu:0"). None takes the backend that `accelhal.device()` would.
        timeout: seconds to wait for the other ranks, and for any collective later.

    Raises:
        UsageError: no launcher started this process, or the group exists already.
        BackendError: the backend cannot be used.
        DeviceNotFoundError: there are fewer devices than ranks on this host.
        DistributedError: the ranks' store cannot be reached, a rank does not come in time, or the
            ranks do not fit together.
    """
    limited = isinstance(timeout, (int, float)) and not isinstance(timeout, bool)
    if not limited or not 0 < timeout < math.inf:
        raise UsageError(
            f"a timeout of {timeout!r} s is none",
            operation="distributed.init",
            hint=f"seconds above 0: timeout={TIMEOUT_S:g}",
        )
    if dist.is_available() and dist.is_initialized():
        raise UsageError(
            "the group of all ranks exists already",
            operation="distributed.init",
            hint="call init() once, before anything else makes a process group",
        )
    place = read_environment(os.environ)
    mine = _own_device(device, place.local_rank)
    _check_library(mine)
    store = open_store(place, timeout)
    check_fit(meet(store, introduction(mine, place.rank), place.world_size, timeout))
    _make_current(mine)
    _make_group(mine, place, store, timeout)
    return Rank(place.rank, place.world_size, place.local_rank, mine, mine.distributed_backend)


def shutdown() -> None:
    """Leave the group, if there is one."""
    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()


def introduction(device: Device, rank: int) -> Introduction:
    """What a rank tells the others of itself."""
    key = device.location.key
    board = device.board
    return Introduction(
        rank=rank,
        host=socket.gethostname(),
        device=str(device),
        backend=device.backend,
        library=device.distributed_backend,
        board=_text(key),
        whole=_text(board.parent if board is not None else None),
    )


def _own_device(wanted: str | torch.device | Device | None, local_rank: int) -> Device:
    """The device of this rank; where its launcher shows it one alone, that one."""
    if isinstance(wanted, Device):
        return wanted
    named = named_device(wanted)
    if isinstance(wanted, str) and ":" in wanted:
        return named
    if isinstance(wanted, torch.device) and wanted.index is not None:
        return named
    found = devices(named.backend)
    if named.torch_device.type == _HOST and not named.simulated:
        return found[0]
    if len(found) == 1:
        return found[0]  # shared with another rank or not: the introductions tell
    if local_rank >= len(found):
        raise DeviceNotFoundError(
            f"local rank {local_rank} has no device: {named.backend} has {len(found)}",
            backend=named.backend,
            operation="distributed.init",
            hint=f"start at most {len(found)} ranks on this host",
        )
    return found[local_rank]


def _check_library(device: Device) -> None:
    library = device.distributed_backend
    known = dist.is_available() and library in dist.Backend.backend_list
    if not known or not dist.is_backend_available(library):
        raise DistributedError(
            f"torch {torch.__version__} was built without {library}, the collective library of "
            f"{device.backend}",
            backend=device.backend,
            operation="distributed.init",
            hint="install the torch of the vendor, or let the ranks compute on processors: "
            'init("cpu")',
        )


def _make_current(device: Device) -> None:
    """Make the device current for good, and use it once.

    A collective library takes the current device, and torch's meshes choose another one where they
    find none in use.
    """
    if device.torch_device.type != _HOST:
        torch.get_device_module(device.torch_device).set_device(device.index)
        torch.zeros(1, device=device.torch_device)


def _make_group(device: Device, place: RankEnvironment, store: Store, timeout: float) -> None:
    libraries = {_HOST: _HOST_LIBRARY}
    if device.torch_device.type != _HOST:
        libraries[device.torch_device.type] = device.distributed_backend
    try:
        dist.init_process_group(
            ",".join(f"{kind}:{library}" for kind, library in libraries.items()),
            store=store,
            rank=place.rank,
            world_size=place.world_size,
            timeout=timedelta(seconds=timeout),
        )
    except (RuntimeError, ValueError) as error:
        raise DistributedError(
            f"rank {place.rank} could not make the group of {place.world_size} ranks: "
            f"{message_of(error)}",
            backend=device.backend,
            device=str(device),
            operation="distributed.init",
            hint="every rank must call init(), on hosts that reach one another",
        ) from error


def _text(key: BoardKey | None) -> str:
    return "" if key is None else f"{key.source} {key.value}"
