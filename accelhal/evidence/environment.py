"""The environment as plain data: versions, backends, boards on the bus, variables that matter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata

from accelhal import __version__
from accelhal.errors import described
from accelhal.facts import ProbeStatus
from accelhal.host import Host, pci
from accelhal.host.torch_install import AUTOLOAD_VARIABLE, read_torch_install
from accelhal.registry.choosing import DEVICE_VARIABLE
from accelhal.registry.listing import LIMIT_VARIABLE, Backend
from accelhal.spi import BackendSpec

SHOWN_VARIABLES = (
    DEVICE_VARIABLE,
    LIMIT_VARIABLE,
    AUTOLOAD_VARIABLE,
    "CONDA_PREFIX",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MKL_NUM_THREADS",
    "NO_COLOR",
    "OMP_NUM_THREADS",
    "PYTHONPATH",
    "VIRTUAL_ENV",
)
"""Variables whose values are shown; to these come each backend's visible-devices variables."""

_PACKAGES = ("torch", "numpy", "stevedore", "click", "rich")


@dataclass(frozen=True)
class ListedBackend:
    """A backend as it was listed: who provides it, and what its probe said.

    Attributes:
        api_version: interface that it is written for ("1.1"); None where it was not loaded.
        simulated: whether its boards are.
    """

    name: str
    distribution: str
    version: str
    api_version: str | None
    status: ProbeStatus
    count: int | None
    reason: str
    evidence: Mapping[str, str] = field(default_factory=dict)
    probe_ms: float = 0.0
    simulated: bool = False


@dataclass(frozen=True)
class BusBoard:
    """An accelerator board on the PCI bus.

    Attributes:
        address: domain:bus:device.function.
        vendor: the vendor's name.
        id: PCI vendor and device id ("1e60:0001").
        driver: kernel driver bound to it, or None.
        numa_node: NUMA node, or None where the kernel knows none.
        backend: the installed backend that drives boards of its vendor, or None.
        driver_shown: whether drivers were looked for; without it None says nothing.
    """

    address: str
    vendor: str
    id: str
    driver: str | None
    numa_node: int | None
    backend: str | None
    driver_shown: bool = True


@dataclass(frozen=True)
class Environment:
    """What is installed and set where accelhal runs.

    Attributes:
        versions: package -> version, or why it has none.
        backends: every backend, most preferred first.
        boards: accelerator boards on the PCI bus.
        variables: the variables of an allow list that are set, with their values.
        variables_withheld: names of the vendors' other variables that are set.
    """

    versions: Mapping[str, str] = field(default_factory=dict)
    backends: tuple[ListedBackend, ...] = ()
    boards: tuple[BusBoard, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    variables_withheld: tuple[str, ...] = ()


def read_environment(host: Host, known: Sequence[Backend]) -> Environment:
    """The environment, not yet redacted.

    Args:
        host: the host to look at.
        known: the backends as listed there.
    """
    specs = loaded_specs(known)
    shown = {*SHOWN_VARIABLES, *_mask_variables(specs)}
    prefixes = _vendor_prefixes(specs)
    environ = host.environ
    return Environment(
        versions=_versions(host, specs),
        backends=tuple(map(listed, known)),
        boards=tuple(_on_bus(board, specs) for board in pci.accelerators(host)),
        variables={name: environ[name] for name in sorted(shown) if name in environ},
        variables_withheld=tuple(
            sorted(name for name in environ if name not in shown and name.startswith(prefixes))
        ),
    )


def loaded_specs(known: Iterable[Backend]) -> tuple[BackendSpec, ...]:
    """Descriptions of the backends that load and that ACCELHAL_BACKENDS lets through."""
    return tuple(
        backend.spec
        for backend in known
        if backend.spec is not None and backend.probe.status is not ProbeStatus.DISABLED
    )


def public_words(specs: Iterable[BackendSpec]) -> frozenset[str]:
    """The words that backends bring into a report: a host of such a name must not blot them out."""
    names = (
        word
        for spec in specs
        for word in (spec.name, spec.vendor, spec.torch_package or "", spec.distributed_backend)
    )
    return frozenset(word for name in names for word in re.findall(r"[a-z0-9]+", name.lower()))


def _versions(host: Host, specs: Sequence[BackendSpec]) -> dict[str, str]:
    found = {"accelhal": __version__}
    torch = read_torch_install(host)
    if torch is not None:
        toolkits = ", ".join(f"{name} {value}" for name, value in torch.build.items())
        found["torch built for"] = toolkits or "cpu"
    vendor_packages = (spec.torch_package for spec in specs if spec.torch_package)
    for package in (*_PACKAGES, *vendor_packages):
        try:
            found[package] = metadata.version(package) or "unknown"
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
        except Exception as error:  # damaged metadata: its parser raises what it likes
            found[package] = f"unreadable: {described(error)}"
    return found


def listed(backend: Backend) -> ListedBackend:
    """The backend as plain data."""
    probe = backend.probe
    return ListedBackend(
        name=backend.name,
        distribution=backend.distribution,
        version=backend.version,
        api_version=backend.api_version,
        status=probe.status,
        count=probe.count,
        reason=probe.reason,
        evidence=dict(probe.evidence),
        probe_ms=round(backend.probe_ms, 1),
        simulated=backend.spec is not None and backend.spec.simulated,
    )


def _on_bus(board: pci.PciDevice, specs: Sequence[BackendSpec]) -> BusBoard:
    return BusBoard(
        address=board.address,
        vendor=pci.vendors()[board.vendor].name,
        id=f"{board.vendor}:{board.device}",
        driver=board.driver,
        numa_node=board.numa_node,
        backend=next((spec.name for spec in specs if board.vendor in spec.pci_vendor_ids), None),
    )


def _mask_variables(specs: Iterable[BackendSpec]) -> set[str]:
    return {mask.variable for spec in specs for mask in spec.visible_devices}


def _vendor_prefixes(specs: Sequence[BackendSpec]) -> tuple[str, ...]:
    """How the vendors' variables begin: with the names of backend, vendor, package or library."""
    words = {
        word.split("_")[0].upper()
        for spec in specs
        for word in (
            *(spec.name, spec.vendor, spec.torch_package or "", spec.distributed_backend),
            *_mask_variables((spec,)),
        )
        if word
    }
    return tuple(f"{word}_" for word in words if word.isidentifier())
