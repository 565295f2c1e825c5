"""Batchers at the end of the interpreter and after a fork: no caller is left waiting."""

from __future__ import annotations

import atexit
import os
import time
import weakref
from functools import cache

from accelhal.batching.crew import Crew

EXIT_LIMIT_S = 2.0
"""How long the interpreter's exit waits for batches under way, all together."""

_live: weakref.WeakSet[Crew] = weakref.WeakSet()


def watch(crew: Crew) -> None:
    """Close the batcher of this crew at exit, and refuse its use in forked children."""
    _register()
    _live.add(crew)


@cache
def _register() -> None:
    atexit.register(_close_all)
    os.register_at_fork(after_in_child=_forked)


def _close_all() -> None:
    until = time.monotonic() + EXIT_LIMIT_S
    for crew in list(_live):
        crew.close(drain=False, timeout=max(0.0, until - time.monotonic()))


def _forked() -> None:
    for crew in list(_live):
        crew.forked()
    _live.clear()
