"""Groups of processes, a device each: starting them, meeting, meshes, and collectives that explain.

The names are loaded lazily: the process that a launcher starts must choose its boards before torch
is imported.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accelhal.distributed.launching import Launch as Launch, launch as launch
    from accelhal.distributed.meshes import mesh as mesh
    from accelhal.distributed.ranks import Ranks as Ranks
    from accelhal.distributed.starting import Rank as Rank, init as init, shutdown as shutdown

_HOME = {
    "init": "accelhal.distributed.starting",
    "shutdown": "accelhal.distributed.starting",
    "Rank": "accelhal.distributed.starting",
    "mesh": "accelhal.distributed.meshes",
    "Ranks": "accelhal.distributed.ranks",
    "launch": "accelhal.distributed.launching",
    "Launch": "accelhal.distributed.launching",
}

__all__ = ["Launch", "Rank", "Ranks", "init", "launch", "mesh", "shutdown"]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(home), name)
    return value
