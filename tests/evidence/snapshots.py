"""Snapshots of every form, for properties that hold of all."""

from __future__ import annotations

from dataclasses import fields

from hypothesis import strategies as st

from accelhal.evidence.environment import BusBoard, Environment, ListedBackend
from accelhal.evidence.snapshot import BusRelation, Snapshot
from accelhal.facts import (
    BoardDetails,
    BoardInfo,
    BoardKey,
    BoardReading,
    BoardRelation,
    Evidence,
    HealthCheck,
    HealthReport,
    HealthStatus,
    HostFacts,
    Link,
    MemoryErrors,
    Partition,
    PcieLink,
    ProbeStatus,
    ProcessMemory,
    Relation,
    Telemetry,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
WORD = st.text(st.sampled_from("abcxyz"), min_size=1, max_size=4)
COUNT = st.integers(0, 2**40)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
MAYBE = {"str": TEXT, "int": COUNT, "float": NUMBER, "bool": st.booleans()}
COUNTS = st.dictionaries(WORD, COUNT, max_size=2)
TEXTS = st.dictionaries(WORD, TEXT, max_size=2)

OTHERS = {
    "BoardKey | None": st.none()
    | st.builds(BoardKey, WORD, st.sampled_from(["uuid", "pci", "logic-id"]), TEXT),
    "BoardKey": st.builds(BoardKey, WORD, st.just("uuid"), TEXT),
    "Mapping[str, str]": TEXTS,
    "Mapping[str, int]": COUNTS,
    "tuple[str, ...]": st.lists(TEXT, max_size=2).map(tuple),
    "tuple[str, ...] | None": st.none() | st.lists(TEXT, max_size=2).map(tuple),
    "tuple[int, ...] | None": st.none() | st.lists(COUNT, max_size=2).map(tuple),
    "HealthStatus": st.sampled_from(HealthStatus),
    "ProbeStatus": st.sampled_from(ProbeStatus),
    "Relation": st.sampled_from(Relation),
}


def facts(kind: type, /, **given: st.SearchStrategy) -> st.SearchStrategy:
    """Instances with every field drawn by its annotation."""
    drawn = {}
    for field in fields(kind):
        annotation = str(field.type)
        plain = annotation.removesuffix(" | None")
        if field.name in given:
            drawn[field.name] = given[field.name]
        elif annotation in OTHERS:
            drawn[field.name] = OTHERS[annotation]
        else:
            drawn[field.name] = MAYBE[plain] if plain == annotation else st.none() | MAYBE[plain]
    return st.builds(kind, **drawn)


def several(kind: type, /, **given: st.SearchStrategy) -> st.SearchStrategy:
    return st.none() | st.lists(facts(kind, **given), max_size=2).map(tuple)


READINGS = st.builds(
    BoardReading,
    board=facts(BoardInfo),
    details=st.none() | facts(BoardDetails),
    telemetry=st.none() | facts(Telemetry),
    health=st.none()
    | facts(HealthReport, checks=st.lists(facts(HealthCheck), max_size=2).map(tuple)),
    memory_errors=st.none() | facts(MemoryErrors),
    pcie=st.none() | facts(PcieLink),
    links=several(Link),
    processes=several(ProcessMemory),
    partitions=several(Partition),
)


@st.composite
def evidences(draw: st.DrawFn) -> Evidence:
    boards = draw(st.lists(READINGS, max_size=3).map(tuple))
    pairs = [(i, j) for j in range(len(boards)) for i in range(j)]
    told = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return Evidence(
        draw(WORD),
        draw(TEXT),
        boards,
        tuple(BoardRelation(i, j, draw(st.sampled_from(Relation))) for i, j in told),
        draw(TEXTS),
        draw(st.lists(TEXT, max_size=2).map(tuple)),
        draw(st.sampled_from([(), ("logic-id", "uuid")])),
    )


ENVIRONMENTS = facts(
    Environment,
    backends=st.lists(facts(ListedBackend), max_size=2).map(tuple),
    boards=st.lists(facts(BusBoard), max_size=2).map(tuple),
)
SNAPSHOTS = st.builds(
    Snapshot,
    taken=st.none() | st.datetimes().map(lambda moment: moment.isoformat()),
    accelhal=st.none() | TEXT,
    redacted=st.booleans(),
    host=st.none() | facts(HostFacts, kind=st.sampled_from(["container", "vm", "bare"])),
    environment=st.none() | ENVIRONMENTS,
    evidence=st.lists(evidences(), max_size=2).map(tuple),
    relations=st.lists(facts(BusRelation), max_size=2).map(tuple),
    notes=st.lists(TEXT, max_size=2).map(tuple),
)
