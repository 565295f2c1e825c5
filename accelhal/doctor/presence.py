"""Which vendors' boards are here, as far as the bus, nodes, drivers or evidence show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

from accelhal.doctor.facts import Facts
from accelhal.doctor.hardware import boards_of
from accelhal.doctor.unseen import unseen
from accelhal.facts import BoardReading, Finding, FindingState
from accelhal.host.device_nodes import DeviceNodes
from accelhal.host.pci import PciDevice
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import NotShownError, VendorHost

Judge = Callable[[BackendSpec, VendorHost, Facts], Iterator[Finding]]
"""What a check says of one vendor's boards; it may raise NotShownError."""


def of_each_vendor(check_id: str, facts: Facts, judge: Judge) -> Iterator[Finding]:
    """The findings on every vendor whose boards are here; what is not shown of one costs only it.

    Raises:
        NotShownError: nothing shows whether there are boards.
    """
    specs = present_specs(facts)
    if not specs:
        yield Finding(check_id, "hardware.absent", FindingState.OK)
    for spec in specs:
        try:
            yield from judge(spec, facts.vendor_host(spec), facts)
        except NotShownError as missing:
            yield unseen(check_id, missing, facts, spec.name)


def present_specs(facts: Facts) -> list[BackendSpec]:
    """The backends whose boards are here.

    Raises:
        NotShownError: neither the bus nor nodes nor drivers are shown.
    """
    driven = [spec for spec in facts.specs if spec.pci_vendor_ids or spec.device_nodes]
    found = [spec for spec in driven if is_here(spec, facts)]
    if not (found or facts.live or facts.snapshot.environment or facts.record.nodes is not None):
        raise NotShownError("the boards", commands=("accelhal snapshot FILE", "lspci -nnk"))
    return found


def is_here(spec: BackendSpec, facts: Facts) -> bool:
    """Whether a board of the backend is here, by the bus, its nodes or its driver."""
    return bool(bus_boards(spec, facts) or board_nodes(spec, facts) or driver_answers(spec, facts))


def bus_boards(spec: BackendSpec, facts: Facts) -> list[PciDevice] | None:
    """The backend's boards on the PCI bus; None where the bus is not shown."""
    try:
        return boards_of(spec, facts)
    except NotShownError:
        return None


def nodes_of(nodes: DeviceNodes, facts: Facts) -> dict[str, bool]:
    """The nodes of a pattern: path -> whether the process that looked may open it."""
    seen = facts.record.nodes or {}
    return {path: seen[path] for path in seen if fnmatchcase(path, nodes.pattern)}


def board_nodes(spec: BackendSpec, facts: Facts) -> dict[str, bool]:
    """The nodes that the backend's driver made, one for each board."""
    return {
        path: usable
        for nodes in spec.device_nodes
        if nodes.per_board
        for path, usable in nodes_of(nodes, facts).items()
    }


def driver_boards(spec: BackendSpec, facts: Facts) -> list[BoardReading]:
    """The whole boards that the driver's library, or its tool, listed."""
    evidence = facts.evidence(spec.name)
    return [
        reading
        for reading in (() if evidence is None else evidence.boards)
        if reading.board.parent is None
        and reading.board.key is not None
        and _by_driver(reading.board.source)
    ]


def driver_answers(spec: BackendSpec, facts: Facts) -> bool:
    """Whether the driver's library, or its tool, listed boards: then the driver runs."""
    return bool(driver_boards(spec, facts))


def _by_driver(source: str) -> bool:
    return source != "pci"
