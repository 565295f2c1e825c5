"""The machine and interpreter that accelhal runs on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class HostFacts:
    """The machine and interpreter that accelhal runs on. Memory in bytes.

    Attributes:
        container: the kind of container ("docker"), or None outside of one.
        kind: what this process runs on: a container, a virtual machine, or bare metal.
    """

    system: str
    kernel: str
    machine: str
    python: str
    cpu_model: str | None
    cpu_count: int
    memory_total: int | None
    container: str | None
    kind: Literal["container", "vm", "bare"]
