"""The record of a live host, each part read on its own: one that fails costs only itself."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from string import Template

from accelhal.evidence.environment import SHOWN_VARIABLES
from accelhal.evidence.torch_variables import TORCH_DEBUG_VARIABLES
from accelhal.facts.host_record import HostRecord
from accelhal.host import Host, pci
from accelhal.host.device_nodes import DeviceNodes, find_nodes
from accelhal.host.installed_packages import package_versions
from accelhal.host.kernel_log import read_kernel_log
from accelhal.host.kernel_modules import built_modules, loaded_modules
from accelhal.host.library_search import find_library, named_file
from accelhal.host.numa import allowed_cpus, numa_nodes
from accelhal.host.pci_ports import iommu_domains, read_ports
from accelhal.host.services import service_states
from accelhal.host.torch_install import read_torch_install
from accelhal.host.worker_daemons import worker_environments
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import VendorHost

_LIBRARY_KINDS = ("libraries", "toolkit_libraries", "runtime_libraries")
"""Fields of VendorHost that name libraries for the loader to find."""


def read_record_for(
    host: Host, specs: Sequence[BackendSpec], vendors: Sequence[VendorHost]
) -> HostRecord:
    """The record of a host as these backends, and what they say of its vendors, ask for it."""
    nodes = [node for spec in specs for node in spec.device_nodes]
    masks = [mask.variable for spec in specs for mask in spec.visible_devices]
    return read_host_record(host, vendors, nodes, masks)


def read_host_record(
    host: Host,
    vendors: Sequence[VendorHost],
    device_nodes: Iterable[DeviceNodes] = (),
    masks: Iterable[str] = (),
) -> HostRecord:
    """What of the host's software and settings is seen now, not yet redacted.

    Args:
        host: the host to look at.
        vendors: whose modules, files, libraries, services and variables to look for.
        device_nodes: the nodes under /dev to look for.
        masks: names of the variables that hide boards.
    """
    kernel = _line(host, "/proc/sys/kernel/osrelease")
    nodes = [node for pattern in device_nodes for node in find_nodes(host, pattern)]
    libraries = _libraries(host, vendors)
    torch = read_torch_install(host)
    boards = [board.address for board in pci.accelerators(host)]
    has_bus = host.exists(pci.BUS)
    shown = {*SHOWN_VARIABLES, *(name for vendor in vendors for name in _variables(vendor))}
    shown |= {variable.name for variable in TORCH_DEBUG_VARIABLES}
    log = read_kernel_log(host)
    return HostRecord(
        kernel=kernel,
        command_line=_line(host, "/proc/cmdline"),
        modules=loaded_modules(host),
        built_modules=built_modules(host, kernel, _of_each(vendors, "modules")) if kernel else None,
        variables={name: host.environ[name] for name in sorted(shown) if name in host.environ},
        nodes={node.path: node.usable for node in nodes},
        refused_nodes=tuple(node.path for node in nodes if node.refused),
        shared_memory=_shared_memory(host),
        files=_files(host, vendors),
        libraries=libraries,
        unlisted_libraries=_unlisted(host, vendors, libraries),
        services=service_states(host, _of_each(vendors, "services")),
        packages=package_versions(host, ["torch", *_of_each(vendors, "packages")]),
        torch_builds=torch.build if torch else None,
        ports=read_ports(host, boards) if has_bus else None,
        iommu=iommu_domains(host, boards) if has_bus else None,
        numa_nodes=numa_nodes(host),
        cpus=allowed_cpus(host),
        worker_variables=worker_environments(host, {*shown, *masks}),
        rdma=_names(host, "/sys/class/infiniband/*"),
        kernel_log=None if isinstance(log, str) else log,
        reasons={"kernel_log": log} if isinstance(log, str) else {},
    )


def _variables(vendor: VendorHost) -> list[str]:
    return [*vendor.variables, *(variable.name for variable in vendor.debug_variables)]


def _line(host: Host, path: str) -> str | None:
    text = host.read_text(path)
    return None if text is None else text.strip()


def _of_each(vendors: Sequence[VendorHost], field: str) -> list[str]:
    """What all vendors name in a field, each once."""
    return list(dict.fromkeys(name for vendor in vendors for name in getattr(vendor, field)))


def _libraries(host: Host, vendors: Sequence[VendorHost]) -> dict[str, str]:
    names = (name for kind in _LIBRARY_KINDS for name in _of_each(vendors, kind))
    found = {name: find_library(host, name) for name in names}
    return {name: named_file(host, path) if path else "" for name, path in found.items()}


def _unlisted(
    host: Host, vendors: Sequence[VendorHost], libraries: Mapping[str, str]
) -> dict[str, str]:
    """The libraries that lie where the installers put them, and the loader does not look."""
    places = {
        name: [f"{_expanded(host, folder)}/{name}" for folder in folders]
        for vendor in vendors
        for names, folders in (
            (vendor.libraries, vendor.library_folders),
            (vendor.toolkit_libraries, vendor.toolkit_folders),
        )
        for name in names
        if not libraries[name]
    }
    found = {name: next(filter(host.exists, paths), "") for name, paths in places.items()}
    return {name: path for name, path in found.items() if path}


def _expanded(host: Host, pattern: str) -> str:
    """The pattern with the values of the variables that it names; the unset ones stay."""
    return Template(pattern).safe_substitute(host.environ)


def _shared_memory(host: Host) -> int | None:
    try:
        found = os.statvfs(host.path("/dev/shm"))
    except OSError:
        return None
    return found.f_blocks * found.f_frsize


def _names(host: Host, pattern: str) -> tuple[str, ...]:
    return tuple(path.rsplit("/", 1)[1] for path in host.glob(pattern))


def _files(host: Host, vendors: Sequence[VendorHost]) -> dict[str, str]:
    found = {}
    for pattern in _of_each(vendors, "files"):
        for path in host.glob(_expanded(host, pattern)):
            text = host.read_text(path)
            if text is not None:
                found[path] = text
    return found
