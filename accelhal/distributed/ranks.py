"""The ranks that share a layer: a process group in a form that modules can hold."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh

from accelhal.distributed.environment import START
from accelhal.errors import UsageError


class Ranks:
    """A process group, and this process's place in it.

    A copy of a module shares it, and a pickled one finds the group of the same name again.

    Attributes:
        group: the process group.
        rank: this process's number in the group.
        size: processes in the group.
        device_type: torch device type of the tensors it is for.
    """

    group: dist.ProcessGroup

    def __init__(self, group: dist.ProcessGroup | None = None, mesh: DeviceMesh | None = None):
        """Take a group, the world where there is none.

        Args:
            group: a process group that this process belongs to.
            mesh: the one-dimensional mesh that the group is the ranks of.

        Raises:
            UsageError: there are no groups yet, or this process is not in the group.
        """
        if not dist.is_available() or not dist.is_initialized():
            raise UsageError(
                "there is no group of ranks yet",
                operation="parallel",
                hint=f"accelhal.distributed.init() makes it; {START}",
            )
        if group is None:
            group = dist.group.WORLD if mesh is None else mesh.get_group()
        rank = dist.get_rank(group)
        if group is None or rank < 0:
            raise UsageError(
                f"rank {dist.get_rank()} is not in this group",
                operation="parallel",
                hint="make layers over a group on its own ranks alone",
            )
        self.group = group
        self.rank = rank
        self.size = dist.get_world_size(group)
        self.device_type = served_device_type(group) if mesh is None else mesh.device_type
        self._meshes: dict[str, DeviceMesh] = {}
        if mesh is not None:
            self._meshes[mesh.device_type] = mesh

    @classmethod
    def of_mesh(cls, mesh: DeviceMesh) -> Ranks:
        """The ranks of a one-dimensional mesh.

        Raises:
            UsageError: the mesh has more dimensions.
        """
        if mesh.ndim != 1:
            names = mesh.mesh_dim_names
            raise UsageError(
                f"a layer is split over one dimension, and the mesh has {mesh.ndim}",
                operation="parallel",
                hint=f"pass one of them: {', '.join(f'mesh[{name!r}]' for name in names)}"
                if names
                else "name the dimensions of the mesh, and pass one of them: mesh['tp']",
            )
        return cls(mesh=mesh)

    def mesh(self, device_type: str) -> DeviceMesh:
        """The ranks as torch's one-dimensional mesh of devices of that type."""
        if device_type not in self._meshes:
            self._meshes[device_type] = DeviceMesh.from_group(self.group, device_type)
        return self._meshes[device_type]

    @cached_property
    def names(self) -> tuple[int, ...]:
        """The numbers of its ranks in the world, in order."""
        return tuple(dist.get_process_group_ranks(self.group))

    def __deepcopy__(self, memo: object) -> Ranks:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _find, (self.group.group_name,)

    def __repr__(self) -> str:
        return f"<rank {self.rank} of {self.size}>"


def served_device_type(group: dist.ProcessGroup) -> str:
    """The accelerator that a group's collectives serve; "cpu" where they serve none."""
    served = [device.type for device in group._device_types]
    return next((kind for kind in served if kind != "cpu"), "cpu")


def _find(name: str) -> Ranks:
    resolve: Any = torch._C._distributed_c10d._resolve_process_group
    return Ranks(resolve(name))
