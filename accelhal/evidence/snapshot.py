"""Snapshot: what the management plane, the host and the environment show, at one moment."""

from __future__ import annotations

from dataclasses import dataclass

from accelhal.evidence.environment import Environment
from accelhal.facts import Evidence, HostFacts, Relation
from accelhal.facts.host_record import HostRecord


@dataclass(frozen=True)
class BusRelation:
    """How near two boards are of which no driver tells: they have two backends, or none.

    Attributes:
        one: PCI address of a board.
        other: PCI address of another.
        relation: how near they are.
    """

    one: str
    other: str
    relation: Relation


@dataclass(frozen=True)
class Snapshot:
    """What was seen of one host. None where nobody looked: captured output shows boards alone.

    Attributes:
        taken: when, in ISO 8601 and UTC.
        accelhal: the version that took it.
        redacted: whether private details were taken out.
        host: the machine and its interpreter.
        environment: what is installed and set.
        record: the host's software and settings, as far as faults of boards show in them.
        evidence: the boards, backend by backend.
        relations: between boards that are in no one evidence.
        notes: what could not be read, one sentence each.
    """

    taken: str | None = None
    accelhal: str | None = None
    redacted: bool = False
    host: HostFacts | None = None
    environment: Environment | None = None
    record: HostRecord | None = None
    evidence: tuple[Evidence, ...] = ()
    relations: tuple[BusRelation, ...] = ()
    notes: tuple[str, ...] = ()
