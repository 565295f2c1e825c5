"""The /dev nodes that a driver makes, and whether this process may open them."""

from __future__ import annotations

import os
from dataclasses import dataclass

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
    """One node that exists, and the rights this process has on it."""

    path: str
    readable: bool
    writable: bool


def find_nodes(host: Host, nodes: DeviceNodes) -> list[NodeState]:
    """The nodes that exist for a pattern, in natural order."""
    return [
        NodeState(
            path,
            readable=os.access(host.path(path), os.R_OK),
            writable=os.access(host.path(path), os.W_OK),
        )
        for path in host.glob(nodes.pattern)
    ]
