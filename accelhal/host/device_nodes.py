"""The /dev nodes that a driver makes, and whether this process may open them."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from accelhal.host.host import Host


@dataclass(frozen=True)
class DeviceNodes:
    """A pattern of nodes under /dev.

    Attributes:
        pattern: absolute glob ("/dev/nvidia[0-9]*").
        per_board: True where the driver makes one for each board, False for a control node.
        required: True where the backend cannot work without.
    """

    pattern: str
    per_board: bool = False
    required: bool = True


@dataclass(frozen=True)
class NodeState:
    """One node that exists, and the rights this process has on it.

    Attributes:
        path: where it is.
        readable: whether the process may read it.
        writable: whether it may write it.
        refused: True where the node's mode lets the process in and the kernel does not: the device
            rules of its control group say no.
    """

    path: str
    readable: bool
    writable: bool
    refused: bool = False

    @property
    def usable(self) -> bool:
        """Whether the process may both read and write it."""
        return self.readable and self.writable


def find_nodes(host: Host, nodes: DeviceNodes) -> list[NodeState]:
    """The nodes that exist for a pattern, in natural order."""
    return [_state(host, path) for path in host.glob(nodes.pattern)]


def _state(host: Host, path: str) -> NodeState:
    where = host.path(path)
    readable, writable = os.access(where, os.R_OK), os.access(where, os.W_OK)
    refused = not (readable and writable) and _mode_allows(where)
    return NodeState(path, readable, writable, refused)


def _mode_allows(where: Path) -> bool:
    """Whether owner, group and mode let this process read and write."""
    try:
        found = where.stat()
    except OSError:
        return False
    if found.st_uid == os.geteuid():
        wanted = stat.S_IRUSR | stat.S_IWUSR
    elif found.st_gid in {os.getegid(), *os.getgroups()}:
        wanted = stat.S_IRGRP | stat.S_IWGRP
    else:
        wanted = stat.S_IROTH | stat.S_IWOTH
    return found.st_mode & wanted == wanted
