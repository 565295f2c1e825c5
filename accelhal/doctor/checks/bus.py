"""What stands between boards on the PCI bus: access controls of bridges, and the IOMMU."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from accelhal.doctor.facts import Facts
from accelhal.evidence.boards import topology
from accelhal.facts import BoardReading, Finding, FindingState, Relation
from accelhal.facts.host_record import BusPort
from accelhal.spi.doctor import Check, NotShownError

_OVER_PCIE = (Relation.PIX, Relation.PXB, Relation.PHB, Relation.NODE, Relation.SYS, None)
"""Relations of boards without a link of their own."""

_PASSTHROUGH = re.compile(
    r"(?:^|\s)(?:iommu=(?:pt|off)|iommu\.passthrough=1|(?:intel|amd)_iommu=off)(?:\s|$)"
)
_SWITCHED_ON = re.compile(r"(?:^|\s)(?:intel_iommu=on|amd_iommu=(?:on|force\w*))(?:\s|$)")

_GROUP = "Topology"


def _access_controls(facts: Facts) -> Iterator[Finding]:
    for backend, boards in _over_pcie(facts).items():
        yield _judge_controls(backend, boards, facts)


def _judge_controls(backend: str, boards: Sequence[BoardReading], facts: Facts) -> Finding:
    if len(boards) < 2:
        return _finding("topo.acs", "acs.no_pair", FindingState.OK, backend)
    if _is_virtual(facts):
        return _finding("topo.acs", "acs.virtual", FindingState.SKIP, backend)
    if facts.record.ports is None:
        raise NotShownError("the PCI bridges' registers", commands=("sudo lspci -vvv",))
    bridges = [port for port in facts.record.ports if port.is_bridge or port.redirects]
    if all(port.redirects is None for port in bridges):
        reason = "only root may read the registers" if facts.live else ""
        raise NotShownError("the PCI bridges' access controls", reason, ("sudo lspci -vvv",))
    redirecting = [port for port in bridges if port.redirects and _is_above(port, boards, facts)]
    if not redirecting:
        return _finding("topo.acs", "acs.off", FindingState.OK, backend)
    return _finding(
        "topo.acs",
        "acs.on",
        _gravity(boards),
        backend,
        count=len(boards),
        bridges=", ".join(port.address for port in redirecting),
        evidence={port.address: " ".join(port.redirects or ()) for port in redirecting},
        commands=(
            *(f"sudo setpci -s {port.address} ECAP_ACS+6.w=0000" for port in redirecting),
            f"add to the kernel's command line: pci=noacs  # lasts; {_NO_PEERS}",
        ),
    )


_NO_PEERS = "until then, switch peer-to-peer copies off in the collective library"


def _is_above(port: BusPort, boards: Sequence[BoardReading], facts: Facts) -> bool:
    """Whether a bridge lies above one of the boards; one that does not say counts."""
    if port.behind is None:
        return port.address not in {reading.board.pci for reading in boards}
    first, last = port.behind
    buses = [_place(reading.board.pci) for reading in boards if reading.board.pci]
    domain = _place(port.address)[0]
    return any(place[0] == domain and first <= place[1] <= last for place in buses)


def _place(address: str) -> tuple[int, int]:
    """Domain and bus of an address."""
    parts = address.split(":")
    return int(parts[0], 16), int(parts[1], 16)


def _translation(facts: Facts) -> Iterator[Finding]:
    for backend, boards in _over_pcie(facts).items():
        if len(boards) < 2:
            yield _finding("topo.iommu", "iommu.no_pair", FindingState.OK, backend)
        elif _is_virtual(facts):
            yield _finding("topo.iommu", "iommu.virtual", FindingState.SKIP, backend)
        else:
            yield _judge_translation(backend, boards, facts)


def _judge_translation(backend: str, boards: Sequence[BoardReading], facts: Facts) -> Finding:
    line, domains = facts.record.command_line, facts.record.iommu
    if line is not None and _PASSTHROUGH.search(line):
        return _finding("topo.iommu", "iommu.passthrough", FindingState.OK, backend)
    if domains is None and (line is None or not _SWITCHED_ON.search(line)):
        raise NotShownError("the IOMMU", commands=("cat /proc/cmdline", "sudo lspci -vvv"))
    own = {r.board.pci: (domains or {}).get(r.board.pci or "") for r in boards}
    if domains is not None and all(kind is None for kind in own.values()):
        return _finding("topo.iommu", "iommu.off", FindingState.OK, backend)
    if domains is not None and all(kind in (None, "identity") for kind in own.values()):
        return _finding("topo.iommu", "iommu.passthrough", FindingState.OK, backend)
    return _finding(
        "topo.iommu",
        "iommu.translates",
        _gravity(boards),
        backend,
        count=len(boards),
        evidence={"/proc/cmdline": line or "not seen"}
        | {f"{address} iommu_group": kind or "unknown kind" for address, kind in own.items()},
        commands=(
            "add to the kernel's command line: iommu=pt  # or intel_iommu=off, amd_iommu=off",
        ),
    )


def _over_pcie(facts: Facts) -> Mapping[str, list[BoardReading]]:
    """Backend -> its whole boards that reach another of it over PCIe alone."""
    near = topology(facts.snapshot)
    found: dict[str, list[BoardReading]] = {}
    readings = facts.readings()
    places = {board.key: place for place, board in enumerate(near.boards)}
    whole = [
        reading
        for reading in readings
        if reading.board.parent is None and reading.board.backend and not reading.board.simulated
    ]
    for reading in whole:
        found.setdefault(str(reading.board.backend), [])
    for one, other in combinations(whole, 2):
        if one.board.backend != other.board.backend:
            continue
        pair = [places[r.board.key] for r in (one, other) if r.board.key in places]
        relation = near.relation(*pair) if len(pair) == 2 else None
        if relation in _OVER_PCIE:
            boards = found[str(one.board.backend)]
            boards += [reading for reading in (one, other) if reading not in boards]
    return found


def _gravity(boards: Sequence[BoardReading]) -> FindingState:
    """A warning where it is known that no two boards are in use: nothing copies between them."""
    in_use = [reading for reading in boards if reading.processes != ()]
    return FindingState.FAIL if len(in_use) > 1 else FindingState.WARN


def _is_virtual(facts: Facts) -> bool:
    try:
        return facts.system.kind == "vm"
    except NotShownError:
        return False


def _finding(
    check: str,
    code: str,
    state: FindingState,
    backend: str,
    *,
    evidence: Mapping[str, str] | None = None,
    commands: tuple[str, ...] = (),
    **params: str | int,
) -> Finding:
    return Finding(
        check,
        code,
        state,
        params,
        backend,
        evidence or {},
        commands,
        needs_root=bool(commands),
        disturbs=bool(commands),
        confidence="likely" if commands else "certain",
    )


ACCESS_CONTROLS = Check(
    "topo.acs",
    _GROUP,
    "whether bridges above the boards redirect traffic between them",
    ("PCI configuration registers (root)",),
    _access_controls,
    explanation="Access Control Services of a PCIe bridge can send what boards send one another up "
    "to the root, for isolation between virtual machines. On bare metal that makes copies between "
    "boards slow, and on some platforms collectives hang. Boards with "
    "links of their own, and virtual machines, are not judged.",
)
IOMMU = Check(
    "topo.iommu",
    _GROUP,
    "whether the IOMMU translates the boards' traffic",
    ("/proc/cmdline", "/sys/kernel/iommu_groups"),
    _translation,
    explanation="An IOMMU that translates stands in the way of copies between boards: collectives "
    "hang or are slow. iommu=pt lets the boards' addresses pass.",
)
