"""The exit codes of every command, in one place."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit status means.

    WARNING is used under --strict only; without it warnings exit with FINE. The last two are
    128 plus the signal's number, as a shell reports them.
    """

    FINE = 0
    WARNING = 1
    FAILURE = 2
    COULD_NOT_RUN = 3
    USAGE = 4
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143
