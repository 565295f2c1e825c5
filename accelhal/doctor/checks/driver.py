"""The kernel drivers' nodes under /dev: are they there, may this process open them."""

from __future__ import annotations

import grp
from collections.abc import Iterator

from accelhal.doctor.facts import Facts
from accelhal.doctor.hardware import board_nodes, boards_of, is_present
from accelhal.facts import Finding, FindingState, ProbeStatus
from accelhal.host import Host
from accelhal.host.device_nodes import NodeState, find_nodes
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check

_ID = "driver.nodes"


def _nodes(facts: Facts) -> Iterator[Finding]:
    looked = False
    for spec in facts.specs:
        if spec.device_nodes and is_present(spec, facts):
            looked = True
            yield from _judge(spec, facts)
    if not looked:
        yield Finding(_ID, "nodes.not_needed", FindingState.OK)


def _judge(spec: BackendSpec, facts: Facts) -> Iterator[Finding]:
    found = {nodes.pattern: find_nodes(facts.host, nodes) for nodes in spec.device_nodes}
    missing = [n.pattern for n in spec.device_nodes if n.required and not found[n.pattern]]
    every = [node for nodes in found.values() for node in nodes]
    denied = [node for node in every if not (node.readable and node.writable)]
    boards, nodes = len(boards_of(spec, facts)), len(board_nodes(spec, facts))
    evidence = {node.path: _rights(node) for node in every}
    evidence |= dict.fromkeys(missing, "no such node")
    contained = facts.system.kind == "container"
    if missing:
        hint = _driver_hint(spec, facts)
        yield Finding(
            _ID,
            "nodes.missing_in_container" if contained else "nodes.missing",
            FindingState.FAIL,
            {"patterns": ", ".join(missing), "boards": boards},
            spec.name,
            evidence,
            commands=(hint,) if hint else (f"ls -l {' '.join(missing)}", "sudo dmesg | tail -50"),
            needs_root=not hint,
        )
    elif denied:
        yield Finding(
            _ID,
            "nodes.denied",
            FindingState.FAIL,
            {"paths": ", ".join(node.path for node in denied)},
            spec.name,
            evidence,
            commands=_access_commands(facts.host, denied[0].path),
            needs_root=True,
        )
    elif 0 < nodes < boards:
        yield Finding(
            _ID,
            "nodes.fewer",
            FindingState.INFO if contained else FindingState.WARN,
            {"nodes": nodes, "boards": boards},
            spec.name,
            evidence,
        )
    else:
        yield Finding(
            _ID, "nodes.open", FindingState.OK, {"count": len(every)}, spec.name, evidence
        )


def _driver_hint(spec: BackendSpec, facts: Facts) -> str:
    """The plugin's own next step where it misses the driver too: it knows the vendor's commands."""
    probe = next(backend.probe for backend in facts.backends if backend.spec is spec)
    return probe.hint if probe.status in (ProbeStatus.NO_DRIVER, ProbeStatus.NO_HARDWARE) else ""


def _rights(node: NodeState) -> str:
    rights = [word for word, has in (("read", node.readable), ("write", node.writable)) if has]
    return "may " + " and ".join(rights) if rights else "may neither read nor write"


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
    depends_on=("plugin.load",),
)
