"""What a container was given of the boards: nodes, libraries, and leave to open the nodes."""

from __future__ import annotations

from collections.abc import Iterator

from accelhal.doctor.facts import Facts
from accelhal.doctor.presence import board_nodes, bus_boards, nodes_of, of_each_vendor
from accelhal.facts import Finding, FindingState
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check, NotShownError, VendorHost

_MOUNTS_ID = "container.mounts"
_CGROUP_ID = "container.cgroup"


def run_command(vendor: VendorHost, boards: int) -> tuple[str, ...]:
    """How to start a container that has the boards; nothing where the vendor's flags are unknown.

    Args:
        vendor: whose boards.
        boards: how many; one where that is not known.
    """
    if not vendor.container_flags:
        return ()
    flags = [
        flag.replace("{index}", str(index))
        for flag in vendor.container_flags
        for index in range(max(boards, 1) if "{index}" in flag else 1)
    ]
    return (f"docker run {' '.join(flags)} <image> <command>",)


def _boards(spec: BackendSpec, facts: Facts) -> int:
    return len(bus_boards(spec, facts) or board_nodes(spec, facts))


# ---- container.mounts


def _mounts(facts: Facts) -> Iterator[Finding]:
    if facts.contained:
        yield from of_each_vendor(_MOUNTS_ID, facts, _judge_mounts)
    else:
        yield Finding(_MOUNTS_ID, "mounts.no_container", FindingState.OK)


def _judge_mounts(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Iterator[Finding]:
    record = facts.record
    if not (vendor.libraries and any(nodes.per_board for nodes in spec.device_nodes)):
        return
    if record.nodes is None or record.libraries is None:
        raise NotShownError("nodes and libraries", commands=(f"ls -l {_patterns(spec)}",))
    nodes, boards = board_nodes(spec, facts), _boards(spec, facts)
    found = {name: record.libraries.get(name) for name in vendor.libraries}
    found |= {name: path for name, path in record.unlisted_libraries.items() if name in found}
    missing = [library for library, path in found.items() if path == ""]
    there = [library for library, path in found.items() if path]
    evidence = {library: path or "not found" for library, path in found.items()}
    evidence |= {path: "open" if usable else "not to be opened" for path, usable in nodes.items()}
    evidence |= _requests(vendor, facts)
    params: dict[str, str | int | float] = {
        "libraries": ", ".join(missing or there),
        "nodes": len(nodes),
        "boards": boards,
        "patterns": _patterns(spec),
        "mounts": ", ".join(vendor.mounts) or "the driver's libraries",
    }
    if nodes and missing:
        code, state = "mounts.no_library", FindingState.FAIL
    elif not nodes and there and boards:
        code, state = "mounts.no_nodes", FindingState.FAIL
    elif nodes:
        code, state = "mounts.complete", FindingState.OK
    else:
        return  # neither: nobody gave this container a board; driver.nodes tells of it
    commands = run_command(vendor, boards) if state is FindingState.FAIL else ()
    yield Finding(
        _MOUNTS_ID,
        code,
        state,
        params,
        spec.name,
        evidence,
        commands=commands,
        disturbs=bool(commands),
    )


def _patterns(spec: BackendSpec) -> str:
    return " ".join(nodes.pattern for nodes in spec.device_nodes if nodes.per_board)


def _requests(vendor: VendorHost, facts: Facts) -> dict[str, str]:
    """The vendor's variables that are set: some ask the container's runtime for boards."""
    seen = facts.record.variables or {}
    return {name: seen[name] for name in vendor.variables if name in seen}


MOUNTS = Check(
    _MOUNTS_ID,
    "Container",
    "whether the container was given both nodes and libraries of the boards",
    ("/dev", "the library folders", "/proc/1/cgroup"),
    _mounts,
    depends_on=("driver.module",),
    explanation="A container needs the boards' nodes under /dev and the driver's libraries of the "
    "host; with one of the two, programs start and find no board. The command gives it both: "
    "the vendor's container runtime does it, or the options one by one. Fewer boards than the "
    "host has is a choice, not a fault. A running container cannot be given them: start it anew.",
)


# ---- container.cgroup


def _cgroup(facts: Facts) -> Iterator[Finding]:
    yield from of_each_vendor(_CGROUP_ID, facts, _judge_cgroup)


def _judge_cgroup(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Iterator[Finding]:
    record = facts.record
    if record.nodes is None:
        raise NotShownError("the nodes", commands=(f"ls -l {_patterns(spec)}",))
    nodes = board_nodes(spec, facts)
    control = {
        path: usable
        for pattern in spec.device_nodes
        if pattern.required and not pattern.per_board
        for path, usable in nodes_of(pattern, facts).items()
    }
    refused = {path for path in {**nodes, **control} if path in (record.refused_nodes or ())}
    closed = [path for path in nodes if path in refused]
    every = bool(nodes) and len(closed) == len(nodes)
    if every or any(path in refused for path in control):
        yield Finding(
            _CGROUP_ID,
            "cgroup.refused",
            FindingState.FAIL,
            {"paths": ", ".join(sorted(refused))},
            spec.name,
            dict.fromkeys(sorted(refused), "its mode lets this process in, the kernel does not"),
            commands=(
                "docker restart <container>",
                *run_command(vendor, _boards(spec, facts)),
            )
            if facts.contained
            else ("systemctl show --property=DeviceAllow,DevicePolicy <unit>",),
            disturbs=facts.contained,
        )
    elif closed:
        params = {"open": len(nodes) - len(closed), "nodes": len(nodes)}
        yield Finding(_CGROUP_ID, "cgroup.some", FindingState.INFO, params, spec.name)
    else:
        yield Finding(_CGROUP_ID, "cgroup.allowed", FindingState.OK, device=spec.name)


CGROUP = Check(
    _CGROUP_ID,
    "Container",
    "whether the control group's device rules let this process open the nodes",
    ("/dev",),
    _cgroup,
    depends_on=("driver.module",),
    explanation="A node whose owner and mode let the process in, and that still cannot be opened, "
    "is refused by the device rules of the control group. `systemctl daemon-reload` on the host "
    "rewrites them for running containers, which then lose their boards after hours of "
    "work. Start the container anew, and name the nodes by CDI or "
    "--device, so that the rules survive. That only some of the boards are refused is how "
    "schedulers share a host.",
)
