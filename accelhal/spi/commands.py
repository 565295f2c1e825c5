"""Subcommands of `accelhal` that a plugin brings: how they are found, and what they are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from accelhal.facts import Evidence

COMMAND_GROUP = "accelhal.commands"
"""Entry-point group: name of the subcommand -> "package.module:attribute", a click command."""


@dataclass(frozen=True)
class CommandContext:
    """What accelhal does for a plugin's command, which finds this as click's context object.

    Attributes:
        read_evidence: what files of captured output and snapshots show, one for each backend; what
            was not read is said on standard error. Raises UsageError where a file cannot be read or
            shows nothing.
    """

    read_evidence: Callable[[Sequence[str]], tuple[Evidence, ...]]
