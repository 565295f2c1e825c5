"""The kernel drivers' nodes under /dev: are they there, may this process open them."""

from __future__ import annotations

import grp
from collections.abc import Iterator

from accelhal.doctor.checks.container import run_command
from accelhal.doctor.facts import Facts
from accelhal.doctor.presence import board_nodes, bus_boards, nodes_of, of_each_vendor
from accelhal.facts import Finding, FindingState, ProbeStatus
from accelhal.host import Host
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check, NotShownError, VendorHost

_ID = "driver.nodes"


def _nodes(facts: Facts) -> Iterator[Finding]:
    yield from of_each_vendor(_ID, facts, _judge)


def _judge(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Iterator[Finding]:
    if not spec.device_nodes:
        return
    if facts.record.nodes is None:
        patterns = " ".join(nodes.pattern for nodes in spec.device_nodes)
        raise NotShownError("the nodes under /dev", commands=(f"ls -l {patterns}",))
    found = {nodes.pattern: nodes_of(nodes, facts) for nodes in spec.device_nodes}
    missing = [n.pattern for n in spec.device_nodes if n.required and not found[n.pattern]]
    every = {path: usable for nodes in found.values() for path, usable in nodes.items()}
    refused = facts.record.refused_nodes or ()
    denied = [path for path, usable in every.items() if not usable and path not in refused]
    boards, nodes = len(bus_boards(spec, facts) or ()), board_nodes(spec, facts)
    evidence = {path: _rights(path, usable, refused) for path, usable in every.items()}
    evidence |= dict.fromkeys(missing, "no such node")
    if missing and _made_on_demand(spec, facts):
        params = {"patterns": ", ".join(missing)}
        yield Finding(_ID, "nodes.on_demand", FindingState.OK, params, spec.name, evidence)
    elif missing:
        yield _missing(spec, vendor, facts, missing, boards, evidence)
    elif denied:
        yield Finding(
            _ID,
            "nodes.denied",
            FindingState.FAIL,
            {"paths": ", ".join(denied)},
            spec.name,
            evidence,
            commands=_access_commands(facts.host, denied[0]),
            needs_root=True,
        )
    elif 0 < len(nodes) < boards:
        yield Finding(
            _ID,
            "nodes.fewer",
            FindingState.INFO if facts.contained else FindingState.WARN,
            {"nodes": len(nodes), "boards": boards},
            spec.name,
            evidence,
        )
    elif not all(every.values()):  # refused ones: container.cgroup tells how bad that is
        yield Finding(
            _ID,
            "nodes.some",
            FindingState.INFO,
            {"count": sum(every.values()), "nodes": len(every)},
            spec.name,
            evidence,
        )
    else:
        yield Finding(
            _ID, "nodes.open", FindingState.OK, {"count": len(every)}, spec.name, evidence
        )


def _missing(
    spec: BackendSpec,
    vendor: VendorHost,
    facts: Facts,
    missing: list[str],
    boards: int,
    evidence: dict[str, str],
) -> Finding:
    hint = _driver_hint(spec, facts)
    commands = run_command(vendor, boards) if facts.contained else vendor.install
    return Finding(
        _ID,
        "nodes.missing_in_container" if facts.contained else "nodes.missing",
        FindingState.FAIL,
        {"patterns": ", ".join(missing), "boards": boards},
        spec.name,
        evidence,
        commands=commands or ((hint,) if hint else (f"ls -l {' '.join(missing)}",)),
        needs_root=not facts.contained and bool(commands),
    )


def _made_on_demand(spec: BackendSpec, facts: Facts) -> bool:
    """Whether the plugin, which knows such drivers, misses neither driver nor nodes."""
    if not facts.live:
        return False
    probe = next(backend.probe for backend in facts.backends if backend.spec is spec)
    return probe.status not in (ProbeStatus.NO_DRIVER, ProbeStatus.NO_HARDWARE)


def _driver_hint(spec: BackendSpec, facts: Facts) -> str:
    """The plugin's own next step where it misses the driver too: it knows the vendor's commands."""
    if not facts.live:
        return ""
    probe = next(backend.probe for backend in facts.backends if backend.spec is spec)
    return probe.hint if probe.status in (ProbeStatus.NO_DRIVER, ProbeStatus.NO_HARDWARE) else ""


def _rights(path: str, usable: bool, refused: tuple[str, ...]) -> str:
    if usable:
        return "may read and write"
    return "refused by the control group" if path in refused else "may not both read and write"


def _access_commands(host: Host, path: str) -> tuple[str, ...]:
    """Join the group that owns the node, where that is not root's own."""
    try:
        group_id = host.path(path).stat().st_gid
        group = grp.getgrgid(group_id).gr_name if group_id else None
    except (OSError, KeyError):
        group = None
    look = f"ls -l {path}"
    return (look, f'sudo usermod -aG {group} "$USER"  # then log in again') if group else (look,)


NODES = Check(
    _ID,
    "Driver",
    "the drivers' nodes under /dev and this process's rights on them",
    ("/dev",),
    _nodes,
    depends_on=("plugin.load", "driver.module", "container.mounts", "container.cgroup"),
    explanation="A driver makes a node for each board and some for control; a program has to open "
    "them to read and write. None of them, or no right, is a failure. Fewer nodes than boards is a "
    "choice in a container and a warning on the host: the driver did not start on the others. "
    "Nodes that the driver makes when a program first asks are no fault while it has not.",
)
