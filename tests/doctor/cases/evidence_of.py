"""Short ways to say what was seen of a host, and what the doctor makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from accelhal.doctor.catalogue import catalogue
from accelhal.doctor.engine import run_checks
from accelhal.doctor.facts import Facts
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import (
    BoardInfo,
    BoardKey,
    BoardReading,
    BoardRelation,
    Evidence,
    Finding,
    FindingState,
    Relation,
)
from accelhal.facts.host_record import HostRecord

LOUD = (FindingState.WARN, FindingState.FAIL, FindingState.ERROR)


def boards(
    backend: str, count: int, *, numa_node: int | None = None, **seen: Any
) -> tuple[BoardReading, ...]:
    """Boards of a backend, told apart by their addresses; of each the same is seen."""
    return tuple(
        BoardReading(
            BoardInfo(
                key=BoardKey(backend, "pci", f"0000:{index + 1:02x}:00.0"),
                vendor="Vendor",
                name="Board",
                backend=backend,
                source="driver",
                index=index,
                pci=f"0000:{index + 1:02x}:00.0",
                numa_node=numa_node,
            ),
            **seen,
        )
        for index in range(count)
    )


def related(count: int, relation: Relation) -> tuple[BoardRelation, ...]:
    """Each two boards are as near as that."""
    return tuple(
        BoardRelation(one, other, relation) for other in range(count) for one in range(other)
    )


def snapshot(
    backend: str,
    seen: Sequence[BoardReading],
    *,
    relations: Sequence[BoardRelation] = (),
    versions: Mapping[str, str] | None = None,
    **record: Any,
) -> Snapshot:
    """A snapshot of boards of one backend, and of the host that has them."""
    evidence = Evidence(backend, "test", tuple(seen), tuple(relations), versions or {})
    return Snapshot(evidence=(evidence,) if seen else (), record=HostRecord(**record))


def judged(shown: Snapshot, *checks: str) -> list[Finding]:
    """What the checks with these ids find in the evidence."""
    facts = Facts(evidence=shown)
    known = catalogue(facts.specs)
    return list(run_checks(known.select(checks), facts, texts=known.texts).findings)


def loud(found: Sequence[Finding]) -> list[Finding]:
    """Those that say that something is wrong."""
    return [finding for finding in found if finding.state in LOUD]
