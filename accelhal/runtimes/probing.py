"""How a vendor's probe decides: boards, driver, packages, libraries, mask, lowest fault first.

The order is the same for every vendor; what to look for comes from its VendorStack. Everything is
read from files and the environment: no import of torch or a vendor package.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from accelhal.facts import DEFECTS, Probe, ProbeStatus
from accelhal.host import Host, pci
from accelhal.host.device_nodes import NodeState, find_nodes
from accelhal.host.library_search import find_library
from accelhal.host.system import container_kind
from accelhal.host.torch_install import (
    TorchInstall,
    read_package_version,
    read_torch_install,
    too_old,
)
from accelhal.host.visible_devices import active_mask, explain
from accelhal.runtimes.vendor_stack import Fault, RequiredLibrary, VendorStack


@dataclass(frozen=True)
class _Boards:
    """The boards seen; `count` is None where only the driver can count them."""

    seen: bool
    count: int | None = None
    fault: Fault | None = None


@dataclass(frozen=True)
class _Software:
    """The packages seen; `hint` is a step to take before they load."""

    package_installed: bool
    fault: Fault | None = None
    hint: str = ""


def probe_stack(host: Host, stack: VendorStack) -> Probe:
    """Judge a vendor's stack on a host; opens and loads nothing."""
    evidence: dict[str, str] = {}
    boards = _look_at_boards(host, stack, evidence)
    present = boards.seen or (stack.opening_decides and _library_is_found(host, stack))
    software = _look_at_software(host, stack, evidence, present)
    if present:
        fault = boards.fault or software.fault
    elif (
        software.package_installed
        and software.fault is not None
        and software.fault.status in DEFECTS
    ):
        fault = software.fault
    else:
        reason = f"no {stack.vendor} board on the PCI bus or under /dev"
        return Probe(ProbeStatus.NO_HARDWARE, 0, reason, evidence=evidence)
    if fault is not None:
        return Probe(fault.status, None, fault.reason, fault.hint, evidence)
    return _look_at_mask(host, stack, boards, software.hint, evidence)


# ---------------------------------------------------------------- boards and driver


def _look_at_boards(host: Host, stack: VendorStack, evidence: dict[str, str]) -> _Boards:
    on_bus = pci.accelerators(host, {stack.pci_vendor_id})
    evidence[pci.BUS] = ", ".join(
        f"{board.address} ({board.driver or 'no driver'})" for board in on_bus
    ) or (f"no {stack.vendor} board" if host.exists(pci.BUS) else "not there")
    nodes = {pattern: find_nodes(host, pattern) for pattern in stack.device_nodes}
    evidence.update({pattern.pattern: _describe(found) for pattern, found in nodes.items()})
    other = stack.other_boards(host)
    evidence.update(other)
    version = _driver_version(host, stack, evidence)

    numbered = [node for pattern, found in nodes.items() if pattern.per_board for node in found]
    on_demand = bool(on_bus) and version is not None and stack.nodes_on_demand(host)
    if numbered:
        missing = [p.pattern for p, found in nodes.items() if p.required and not found]
        if not any(node.readable and node.writable for node in numbered):
            return _Boards(True, fault=_no_rights(numbered[0]))
        if missing and not on_demand:
            return _Boards(True, fault=_incomplete(host, stack, numbered[0], missing))
        return _Boards(True, len(numbered))
    if other:
        return _Boards(True)
    if on_demand:
        return _Boards(True, len(on_bus))
    if on_bus:
        return _Boards(True, fault=_no_nodes(host, stack, on_bus, version))
    return _Boards(False)


def _describe(nodes: Sequence[NodeState]) -> str:
    return (
        ", ".join(
            node.path if node.readable and node.writable else f"{node.path} (no access)"
            for node in nodes
        )
        or "absent"
    )


def _driver_version(host: Host, stack: VendorStack, evidence: dict[str, str]) -> str | None:
    pattern, expression = stack.driver_version
    path = next(iter(host.glob(pattern)), None)
    if path is None:
        return None
    match = re.search(expression, host.read_text(path) or "", re.MULTILINE)
    version = match[1] if match else "unknown"
    evidence[path] = version
    return version


def _no_rights(node: NodeState) -> Fault:
    return Fault(
        ProbeStatus.NO_DRIVER,
        f"{node.path} is there, but this user may not open it",
        f"`ls -l {node.path}` names its group: sudo usermod -aG GROUP $USER, then log in again",
    )


def _incomplete(host: Host, stack: VendorStack, node: NodeState, missing: list[str]) -> Fault:
    steps = stack.next_steps
    return Fault(
        ProbeStatus.NO_DRIVER,
        f"{node.path} is there, but {', '.join(missing)} is not",
        steps.container if container_kind(host) else steps.driver,
    )


def _no_nodes(
    host: Host, stack: VendorStack, boards: Sequence[pci.PciDevice], version: str | None
) -> Fault:
    """Boards on the bus without nodes: in a container, not handed in; else, no driver."""
    pattern = next(p.pattern for p in stack.device_nodes if p.per_board)
    drivers = sorted({board.driver or "no kernel driver" for board in boards})
    found = f"{_count(boards, stack)} on the PCI bus ({', '.join(drivers)}), but no {pattern}"
    container = container_kind(host)
    if container:
        reason, hint = f"{found} in this {container} container", stack.next_steps.container
    elif drivers == ["vfio-pci"]:
        reason = f"{found}: they are handed to a virtual machine"
        hint = "bind them to the vendor's driver to use them on this host"
    else:
        installed = f" although driver {version} is installed" if version else ""
        reason, hint = f"{found}{installed}", stack.next_steps.driver
    return Fault(ProbeStatus.NO_DRIVER, reason, hint)


def _count(boards: Sequence[object], stack: VendorStack) -> str:
    return f"{len(boards)} {stack.vendor} board{'s' * (len(boards) != 1)}"


# ---------------------------------------------------------------- packages and libraries


def _look_at_software(
    host: Host, stack: VendorStack, evidence: dict[str, str], present: bool
) -> _Software:
    torch = read_torch_install(host)
    evidence["torch"] = _describe_torch(torch)
    package = stack.torch_package
    folder = host.find_package(package) if package else None
    if package:
        version = read_package_version(folder) if folder else None
        evidence[package] = f"{version or 'unknown version'} in {folder}" if folder else "absent"
    installed = folder is not None
    fault: Fault | None
    if torch is None:
        fault = Fault(ProbeStatus.NOT_INSTALLED, "torch is not installed", stack.next_steps.torch)
        return _Software(installed, fault)
    if package and not installed:
        release = ".".join(map(str, torch.release))
        hint = stack.next_steps.package.format(release=release)
        reason = f"{package} is not installed beside torch {torch.version}"
        return _Software(False, Fault(ProbeStatus.NOT_INSTALLED, reason, hint))
    old = too_old(torch.version)
    if old is not None:
        fault = Fault(ProbeStatus.INCOMPATIBLE, old, stack.next_steps.torch)
    else:
        fault = stack.find_fault(host, torch)
    if fault is not None or stack.library is None or not (present or installed):
        return _Software(installed, fault)
    folders = [f"{folder}/lib", str(folder)] if folder else []
    fault, hint = _look_for_library(host, stack, stack.library, folders, evidence)
    return _Software(installed, fault, hint)


def _library_is_found(host: Host, stack: VendorStack) -> bool:
    return stack.library is not None and find_library(host, stack.library.name) is not None


def _describe_torch(torch: TorchInstall | None) -> str:
    if torch is None:
        return "absent"
    build = ", ".join(f"{name} {version}" for name, version in torch.build.items())
    return f"{torch.version} ({build or 'cpu build'}) in {torch.path}"


def _look_for_library(
    host: Host,
    stack: VendorStack,
    library: RequiredLibrary,
    package_folders: Sequence[str],
    evidence: dict[str, str],
) -> tuple[Fault | None, str]:
    found = find_library(host, library.name, package_folders)
    if found is not None:
        evidence[library.name] = found
        return None, ""
    kits = [f"{folder}/{library.name}" for folder in library.sdk_folders(host)]
    beside = next((path for path in kits if host.exists(path)), None)
    if beside is not None:
        evidence[library.name] = f"{beside}, where the loader does not look"
        return None, library.setup(host)
    evidence[library.name] = "not found"
    reason = f"{library.name} is nowhere on this host: {library.needed_for}"
    return Fault(ProbeStatus.LIBRARY_BROKEN, reason, stack.next_steps.library), ""


# ---------------------------------------------------------------- the mask


def _look_at_mask(
    host: Host, stack: VendorStack, boards: _Boards, hint: str, evidence: dict[str, str]
) -> Probe:
    count = boards.count
    if not boards.seen:
        seen = f"no {stack.vendor} board in sight, but its libraries are here: opening decides"
    else:
        seen = f"{stack.vendor} boards" if count is None else _count(range(count), stack)
    mask = active_mask(stack.visible_devices, host.environ, count)
    if mask is None:
        return Probe(ProbeStatus.AVAILABLE, count, seen, hint, evidence)
    evidence[mask.variable] = repr(mask.value)
    if mask.entries:
        reason = f"{seen}; {explain(mask)}"
        return Probe(ProbeStatus.AVAILABLE, len(mask.entries), reason, hint, evidence)
    ids = "0" if count == 1 else "its ids" if count is None else f"ids from 0 to {count - 1}"
    return Probe(
        ProbeStatus.HIDDEN_BY_ENV,
        0,
        f"{explain(mask)} ({seen} here)" if boards.seen else explain(mask),
        f"unset {mask.variable}, or set it to {ids}",
        evidence,
    )
