"""What a check found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal


class FindingState(str, Enum):
    """The outcome of a check, mildest first."""

    OK = "ok"
    INFO = "info"
    SKIP = "skip"
    UNKNOWN = "unknown"
    WARN = "warn"
    FAIL = "fail"
    ERROR = "error"


@dataclass(frozen=True)
class Finding:
    """What a check found: a code with parameters; texts are made from them.

    Attributes:
        check: id of the check ("device.mask").
        code: key of the text that describes the finding.
        state: outcome.
        params: values for the text.
        device: board, device or backend concerned, or None for the host.
        evidence: what was read, where (path or variable -> value).
        commands: exact commands to type next.
        needs_root: True where a command needs administrator rights.
        disturbs: True where a command disturbs running jobs.
        confidence: "certain", "likely" or "possible".
        refs: sources of the rule.
    """

    check: str
    code: str
    state: FindingState
    params: Mapping[str, str | int | float] = field(default_factory=dict)
    device: str | None = None
    evidence: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    needs_root: bool = False
    disturbs: bool = False
    confidence: Literal["certain", "likely", "possible"] = "certain"
    refs: tuple[str, ...] = ()
