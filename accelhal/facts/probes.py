"""What a look at the host says of a backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class ProbeStatus(str, Enum):
    """Whether a backend can be used here, and if not, in which of seven ways."""

    AVAILABLE = "available"
    NO_HARDWARE = "no_hardware"
    NO_DRIVER = "no_driver"
    NOT_INSTALLED = "not_installed"
    LIBRARY_BROKEN = "library_broken"
    INCOMPATIBLE = "incompatible"
    HIDDEN_BY_ENV = "hidden_by_env"
    DISABLED = "disabled"


DEFECTS = frozenset({ProbeStatus.LIBRARY_BROKEN, ProbeStatus.INCOMPATIBLE})
"""Wrong in themselves: a plain `import torch` may meet them, board or not. The other kinds of "no"
matter only where there is a board to use."""


@dataclass(frozen=True)
class Probe:
    """What a look at the host says of a backend, without importing its vendor package.

    Attributes:
        status: AVAILABLE, or the kind of "no".
        count: devices expected, or None where only opening can tell.
        reason: one sentence saying why.
        hint: the next step; empty when there is none to take.
        evidence: what was looked at, in reading order (path or variable -> what it said).
    """

    status: ProbeStatus
    count: int | None
    reason: str
    hint: str = ""
    evidence: Mapping[str, str] = field(default_factory=dict)
