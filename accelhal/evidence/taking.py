"""Taking a snapshot: every driver library is read, and one that fails costs its own words alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from itertools import combinations
from typing import Any

from accelhal import __version__
from accelhal.errors import message_of
from accelhal.evidence.environment import loaded_specs, read_environment
from accelhal.evidence.host_reading import read_record_for
from accelhal.evidence.kernel_lines import log_needles, telling
from accelhal.evidence.snapshot import BusRelation, Snapshot
from accelhal.facts import (
    BoardDetails,
    BoardReading,
    BoardRelation,
    Evidence,
    HealthReport,
    Link,
    MemoryErrors,
    Partition,
    PcieLink,
    ProcessMemory,
    Telemetry,
)
from accelhal.facts.host_record import HostRecord
from accelhal.host import Host
from accelhal.host.numa import placements
from accelhal.host.system import host_facts
from accelhal.management.boards import list_boards, managed_specs
from accelhal.management.planes import open_management
from accelhal.management.remote import read_each
from accelhal.registry import backends
from accelhal.registry.vendor_hosts import vendor_host
from accelhal.spi import BackendSpec, Management
from accelhal.topology import Topology, discover

_READINGS: Mapping[str, type] = {
    "details": BoardDetails,
    "telemetry": Telemetry,
    "health": HealthReport,
    "memory_errors": MemoryErrors,
    "pcie": PcieLink,
}
"""Method of Management, and field of BoardReading -> what it returns."""

_LISTS: Mapping[str, type] = {
    "links": Link,
    "processes": ProcessMemory,
    "partitions": Partition,
}
"""The same of those that return several."""

_BUS = "the PCI bus"


def take_snapshot(host: Host | None = None, record: HostRecord | None = None) -> Snapshot:
    """What is seen now, with private details.

    Simulated boards are in it as in `accelhal.boards()`. A driver call that fails or hangs costs
    at most its limit, and is said in the notes. The driver libraries are this machine's, whatever
    `host` is.

    Args:
        host: the host whose files and environment are read; this one when None.
        record: its record, where it was read already.
    """
    where = Host() if host is None else host
    known = backends()
    specs = {spec.name: spec for spec in managed_specs(known)}
    listed = list_boards(known, where)
    topology = discover(listed, where)
    driven = [board.backend for board in topology.boards if board.backend is not None]
    evidence, notes = [], []
    for name in dict.fromkeys([*driven, *specs]):
        look = _Look(name, topology)
        look.read(specs.get(name), where)
        notes += look.notes
        if look.boards:
            evidence.append(look.evidence())
    if record is None:
        loaded = loaded_specs(known)
        record = read_record_for(where, loaded, [vendor_host(spec) for spec in loaded])
        if record.kernel_log is not None:  # a whole log is large, and tells of much else
            kept = telling(record.kernel_log, log_needles(known))
            left_out = len(record.kernel_log) - len(kept)
            record = replace(record, kernel_log=kept, kernel_lines_left_out=left_out)
    readings = (reading for one in evidence for reading in one.boards)
    pids = (process.pid for reading in readings for process in reading.processes or ())
    return Snapshot(
        taken=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        accelhal=__version__,
        host=host_facts(where),
        environment=read_environment(where, known),
        record=replace(record, placements=placements(where, pids)),
        evidence=tuple(evidence),
        relations=tuple(_between_backends(topology)),
        notes=tuple(notes),
    )


def _between_backends(topology: Topology) -> Iterator[BusRelation]:
    for (one, other), relation in topology.relations.items():
        first, second = topology.boards[one], topology.boards[other]
        apart = first.backend is None or first.backend != second.backend
        if apart and relation is not None and first.pci is not None and second.pci is not None:
            yield BusRelation(first.pci, second.pci, relation)


@dataclass(frozen=True)
class _Versions:
    versions: Mapping[str, str]


class _Look:
    """One look at one backend's boards.

    Attributes:
        boards: the boards.
        notes: what could not be read.
    """

    def __init__(self, backend: str, topology: Topology) -> None:
        self._backend = backend
        self._topology = topology
        self._places = [
            place for place, board in enumerate(topology.boards) if board.backend == backend
        ]
        self.boards = [topology.boards[place] for place in self._places]
        self.notes: list[str] = []
        self._versions: Mapping[str, str] = {}
        self._readings: list[dict[str, Any]] = [{} for _ in self.boards]

    def read(self, spec: BackendSpec | None, host: Host) -> None:
        """Ask the driver, where the backend has one."""
        if spec is None:
            return
        try:
            management = open_management(spec)
            management.boards()  # where this fails, the boards were listed from the bus alone
        except Exception as error:  # a driver library and its wrapper raise what they like
            library = spec.driver_library
            if self.boards or library is None or library.is_there(host):
                self._note("boards", error)
            return
        from accelhal.evidence.document import recheck  # only hosts with boards need its machinery

        try:
            self._versions = recheck(_Versions(management.versions())).versions
        except Exception as error:
            self._note("versions", error)
        self._read_boards(management)

    def evidence(self) -> Evidence:
        """What was seen."""
        relations = []
        for (one, first), (other, second) in combinations(enumerate(self._places), 2):
            relation = self._topology.relation(first, second)
            if relation is not None:
                relations.append(BoardRelation(one, other, relation))
        sources = dict.fromkeys(board.source for board in self.boards)
        return Evidence(
            backend=self._backend,
            source=", ".join(_BUS if source == "pci" else source for source in sources),
            boards=tuple(
                BoardReading(board, **readings)
                for board, readings in zip(self.boards, self._readings, strict=True)
            ),
            relations=tuple(relations),
            versions=self._versions,
        )

    def _read_boards(self, management: Management) -> None:
        places = [p for p, board in enumerate(self.boards) if board.key and board.source != "pci"]
        keys = [key for place in places if (key := self.boards[place].key) is not None]
        kinds = {**_READINGS, **_LISTS}
        answers = read_each(management, tuple(kinds), keys)
        for method, kind in kinds.items():
            failures = []
            for place, answer in zip(places, answers[method], strict=True):
                try:
                    self._readings[place][method] = _fact(answer, kind, method in _LISTS)
                except Exception as error:
                    failures.append(error)
            if failures:
                self._note(method, failures[0], len(failures))

    def _note(self, method: str, error: Exception, boards: int = 0) -> None:
        of = f" of {boards} of {len(self.boards)} boards" if boards else ""
        message = message_of(error).removeprefix(f"{self._backend}: ")
        self.notes.append(f"{self._backend}: {method}{of} not read: {message}")


def _fact(answer: Any, kind: type, several: bool) -> Any:
    """What a driver answered, if it is what it should be; raises what it raised."""
    if isinstance(answer, Exception):
        raise answer
    if several:
        return tuple(_fact(item, kind, False) for item in answer)
    if not isinstance(answer, kind):
        raise TypeError(f"a {type(answer).__name__} where {kind.__name__} is due")
    from accelhal.evidence.document import recheck

    return recheck(answer)
