"""Faults that drivers and runtimes number: what a number means, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from accelhal.facts.findings import FindingState
from accelhal.facts.sources import Source


class FaultSeverity(str, Enum):
    """What a fault does to work on the board, mildest first."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    FATAL = "fatal"


class FaultAction(str, Enum):
    """What is done about a fault, mildest first.

    APP: repair or restart the job. CONFIG: change how the job or container is set up. COLLECT: keep
    the logs and ask the vendor. LINK and MECHANICAL: look at cables, bridges, power and cooling.
    DRIVER: repair the driver or what it is installed with. RESET is of the board, REBOOT of the
    host. RMA: replace the board.
    """

    NONE = "none"
    APP = "app"
    CONFIG = "config"
    COLLECT = "collect"
    LINK = "link"
    MECHANICAL = "mechanical"
    DRIVER = "driver"
    RESET = "reset"
    REBOOT = "reboot"
    RMA = "rma"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One numbered fault.

    Attributes:
        family: which of the vendor's numberings it belongs to ("xid").
        code: the number or name as the vendor writes it ("79", "0x80E18402").
        name: the vendor's name for it, empty where none is published.
        meaning: what happened, in a few words.
        severity: what it does to work on the board.
        action: what to do.
        follow_up: what to do where that does not help; empty where nothing is known.
        listed: False for a code that the vendor's table does not have.
        source: where code, severity and action come from.
    """

    family: str
    code: str
    name: str = ""
    meaning: str
    severity: FaultSeverity
    action: FaultAction
    follow_up: str = ""
    listed: bool = True
    source: Source


@dataclass(frozen=True, kw_only=True)
class FaultEvent:
    """One fault as it was seen.

    Attributes:
        fault: which.
        board: PCI address or the driver's own name of the board, as the log writes it; None where
            the line names none.
        time: seconds since the host started, or None where the line has no such stamp.
        restarts: how many resets or restarts lie between the start of the record and it.
        line: the text that it was read from, shortened.
    """

    fault: Fault
    board: str | None = None
    time: float | None = None
    restarts: int = 0
    line: str = ""


@dataclass(frozen=True, kw_only=True)
class FaultVerdict:
    """What the faults of one board add up to.

    Attributes:
        state: OK without a fault that counts now, INFO for faults of jobs, else WARN or FAIL.
        action: what to do; RMA where resets did not help.
        worst: the fault that decided; None without any.
        count: how often it was seen since the last restart.
        returns: after how many restarts it came back.
        marks_board: whether the board should take no new work.
    """

    state: FindingState
    action: FaultAction
    worst: Fault | None = None
    count: int = 0
    returns: int = 0
    marks_board: bool = False
