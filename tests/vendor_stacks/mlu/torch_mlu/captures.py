"""Graph captures under way, and the calls that end them in the stricter error modes."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

MODES = ("global", "thread_local", "relaxed")


@dataclass(frozen=True)
class Capture:
    """A capture: what it records into, how strict it is, and the thread that began it."""

    graph: Any
    mode: str
    thread: int


_open: list[Capture] = []


def begin(graph: Any, mode: str) -> None:
    """Note a capture that has begun."""
    _open.append(Capture(graph, mode, threading.get_ident()))


def end(graph: Any) -> None:
    """Forget a capture; its end may fail after this."""
    _open[:] = [capture for capture in _open if capture.graph is not graph]


def check(call: str) -> None:
    """Spoil the captures that do not permit a call which waits or asks.

    "global" permits it to no thread, "thread_local" to others than its own, "relaxed" to all.

    Raises:
        RuntimeError: a capture was spoilt.
    """
    own = threading.get_ident()
    for capture in _open:
        if capture.mode == "global" or (capture.mode == "thread_local" and capture.thread == own):
            capture.graph.spoil(call)
