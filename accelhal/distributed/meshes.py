"""Ranks laid out along named dimensions: torch's device mesh, with errors that count."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from accelhal.distributed.environment import START
from accelhal.distributed.ranks import served_device_type
from accelhal.errors import UsageError
from accelhal.facade import Device, device as named_device

_REST = -1


def mesh(
    dimensions: Mapping[str, int] | None = None,
    *,
    device: Device | torch.device | str | None = None,
) -> DeviceMesh:
    """Lay the ranks of the world out; `mesh["tp"]` is then one dimension.

    Ranks that are next to one another lie along the last dimension: name the one that communicates
    most last.

    Args:
        dimensions: name -> ranks along it, -1 for what is left: {"dp": -1, "tp": 2}. One
            dimension "tp" of all ranks when None.
        device: the device, or the torch device type, that tensors of the mesh are on; where None,
            the accelerator that the world's group serves, else the processor.

    Raises:
        UsageError: there is no group yet, or the sizes do not make up the world.
    """
    if not dist.is_available() or not dist.is_initialized():
        raise UsageError(
            "there is no group of ranks yet",
            operation="distributed.mesh",
            hint=f"accelhal.distributed.init() makes it; {START}",
        )
    if dimensions is not None and not isinstance(dimensions, Mapping):
        raise UsageError(
            f"{dimensions!r} names no dimensions",
            operation="distributed.mesh",
            hint='a name and a size for each: {"dp": -1, "tp": 2}',
        )
    sizes = {"tp": _REST} if dimensions is None else dict(dimensions)
    shape = _filled(sizes, dist.get_world_size())
    return init_device_mesh(_device_type(device), shape, mesh_dim_names=tuple(sizes))


def _filled(sizes: Mapping[str, int], world: int) -> tuple[int, ...]:
    """The sizes with -1 replaced by what is left of the world."""
    whole = all(type(size) is int for size in sizes.values())
    known = [size for size in sizes.values() if whole and size != _REST]
    open_ones = len(sizes) - len(known)
    product = math.prod(known)
    fits = whole and bool(sizes) and open_ones <= 1 and all(size >= 1 for size in known)
    if fits and open_ones:
        fits = world % product == 0
    elif fits:
        fits = product == world
    if not fits:
        raise UsageError(
            f"{dict(sizes)} does not lay out {world} ranks",
            operation="distributed.mesh",
            hint="sizes that multiply to the number of ranks; one of them may be -1",
        )
    return tuple(world // product if size == _REST else size for size in sizes.values())


def _device_type(device: Device | torch.device | str | None) -> str:
    if isinstance(device, Device):
        return device.torch_device.type
    if device is not None:
        return named_device(device).torch_device.type
    assert dist.group.WORLD is not None, "mesh() has looked"
    return served_device_type(dist.group.WORLD)
