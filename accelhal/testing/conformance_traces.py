"""What a child process of a conformance run leaves in its folder: where it hung or crashed."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from itertools import takewhile
from pathlib import Path

STACK_FILE = "stack.txt"
"""Where the child's faulthandler writes."""

OUTPUT_FILE = "output.txt"
"""What the child prints."""

_STACK_LIMIT_S = 1.0
_LINES = 12
_FRAMES = 6
_OUTSIDE = re.compile("/(_pytest|pluggy)/")


def ask_for_stack(process: int, folder: Path) -> None:
    """Let a child that hangs write down where; one that is stuck in the kernel does not.

    Args:
        process: its id; it has not been waited for.
        folder: its folder.
    """
    path = folder / STACK_FILE
    if not path.exists():
        return  # nothing handles the signal yet
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGUSR1)
    limit = time.monotonic() + _STACK_LIMIT_S
    size, before = 0, -1
    while time.monotonic() < limit and size != before:
        before = size or -1
        time.sleep(_STACK_LIMIT_S / 10)
        size = path.stat().st_size


def stack(folder: Path) -> str:
    """The innermost frames of a child that hung or crashed, as lines to append."""
    try:
        lines = (folder / STACK_FILE).read_text(errors="replace").splitlines()
    except FileNotFoundError:  # it ended before it could open one
        return ""
    frames = [line for line in lines if line.startswith("  File ")]
    own = takewhile(lambda frame: not _OUTSIDE.search(frame), frames)
    return "".join(f"\n{frame}" for frame in list(own)[:_FRAMES])


def last_output(folder: Path) -> str:
    """The last lines that the child printed, as lines to append."""
    text = (folder / OUTPUT_FILE).read_text(errors="backslashreplace")
    return "".join(f"\n  {line}" for line in text.strip().splitlines()[-_LINES:])
