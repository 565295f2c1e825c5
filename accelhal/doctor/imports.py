"""What becomes of packages and devices in child processes: the questions and the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

IMPORT_LIMIT_S = 60
"""Default limit for one child, in seconds: a first import of torch and a vendor package from a cold
network file system takes tens of seconds."""


class ImportOutcome(str, Enum):
    """How a child process ended."""

    LOADED = "loaded"
    RAISED = "raised"
    KILLED = "killed"  # by a signal of its own making
    EXITED = "exited"  # the package ended the process
    HUNG = "hung"


@dataclass(frozen=True)
class ImportJob:
    """A package to import, and the device types it brings to torch."""

    package: str
    device_types: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImportReport:
    """What became of one package in its child process.

    Attributes:
        job: what was asked.
        outcome: how it ended.
        step: the step begun last ("import torch").
        detail: the error, signal name or exit status; empty when it loaded.
        counts: device type -> devices seen.
        count_errors: device type -> why its devices could not be counted.
        arch_lists: device type -> the architectures that the build has code for, where it tells.
        version: the package's version.
        output: the end of what it printed.
        seconds: wall time.
    """

    job: ImportJob
    outcome: ImportOutcome
    step: str
    detail: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    count_errors: Mapping[str, str] = field(default_factory=dict)
    arch_lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    version: str = ""
    output: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class OpenJob:
    """The devices of a type to open, and the package that brings the type to torch."""

    package: str
    device_type: str
    count: int


@dataclass(frozen=True)
class OpenReport:
    """What became of the devices of one type.

    Attributes:
        job: what was asked.
        opened: the indices that opened.
        failed: index -> the error, or how the process ended.
        untried: how many were left out after others hung.
        output: the end of what the last child that failed printed.
    """

    job: OpenJob
    opened: tuple[int, ...] = ()
    failed: Mapping[int, str] = field(default_factory=dict)
    untried: int = 0
    output: str = ""
