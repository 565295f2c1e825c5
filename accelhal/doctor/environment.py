"""The environment as plain data: host, versions, backends, boards, and variables that matter."""

from __future__ import annotations

from dataclasses import asdict
from importlib import metadata
from typing import Any

from accelhal import __version__
from accelhal.doctor.facts import Facts
from accelhal.errors import described
from accelhal.host import pci
from accelhal.host.torch_install import AUTOLOAD_VARIABLE
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


def environment_document(facts: Facts) -> dict[str, Any]:
    """The report's data, not yet redacted."""
    environ = facts.host.environ
    shown = {*SHOWN_VARIABLES, *_mask_variables(facts.specs)}
    prefixes = _vendor_prefixes(facts.specs)
    return {
        "host": asdict(facts.system),
        "versions": _versions(facts),
        "backends": [_backend(backend) for backend in facts.backends],
        "boards": [
            {
                "address": board.address,
                "vendor": pci.vendors()[board.vendor].name,
                "id": f"{board.vendor}:{board.device}",
                "driver": board.driver,
                "numa_node": board.numa_node,
                "backend": _driving(board.vendor, facts),
            }
            for board in facts.boards
        ],
        "variables": {name: environ[name] for name in sorted(shown) if name in environ},
        "variables_withheld": sorted(
            name for name in environ if name not in shown and name.startswith(prefixes)
        ),
    }


def _versions(facts: Facts) -> dict[str, str]:
    found = {"accelhal": __version__}
    if facts.torch is not None:
        toolkits = ", ".join(f"{name} {value}" for name, value in facts.torch.build.items())
        found["torch built for"] = toolkits or "cpu"
    vendor_packages = (spec.torch_package for spec in facts.specs if spec.torch_package)
    for package in (*_PACKAGES, *vendor_packages):
        try:
            found[package] = metadata.version(package) or "unknown"
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
        except Exception as error:  # damaged metadata: its parser raises what it likes
            found[package] = f"unreadable: {described(error)}"
    return found


def _backend(backend: Backend) -> dict[str, Any]:
    probe = backend.probe
    return {
        "name": backend.name,
        "distribution": backend.distribution,
        "version": backend.version,
        "api_version": backend.api_version,
        "status": probe.status.value,
        "count": probe.count,
        "reason": probe.reason,
        "evidence": dict(probe.evidence),
        "probe_ms": round(backend.probe_ms, 1),
    }


def _driving(vendor_id: str, facts: Facts) -> str | None:
    return next((spec.name for spec in facts.specs if vendor_id in spec.pci_vendor_ids), None)


def _mask_variables(specs: tuple[BackendSpec, ...]) -> set[str]:
    return {mask.variable for spec in specs for mask in spec.visible_devices}


def _vendor_prefixes(specs: tuple[BackendSpec, ...]) -> tuple[str, ...]:
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
