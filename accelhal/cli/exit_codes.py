"""The exit codes of every command, in one place."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit status means.

    WARNING is used under --strict only; without it warnings exit with FINE. From 126 on they are a
    shell's: a command that is there and cannot be executed, one that is not there, and 128 plus the
    number of the signal that ended the process.
    """

    FINE = 0
    WARNING = 1
    FAILURE = 2
    COULD_NOT_RUN = 3
    USAGE = 4
    COMMAND_NOT_EXECUTABLE = 126
    COMMAND_NOT_FOUND = 127
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143
