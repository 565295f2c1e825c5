"""The facts that checks judge: each gathered once, when first asked for, without torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from accelhal.doctor.imports import IMPORT_LIMIT_S, ImportJob, ImportReport
from accelhal.evidence.environment import loaded_specs
from accelhal.facts import HostFacts
from accelhal.host import Host, pci
from accelhal.host.entry_points import InstalledEntryPoint, read_entry_points
from accelhal.host.system import host_facts
from accelhal.host.torch_install import (
    TorchInstall,
    autoload_enabled,
    autoload_entries,
    read_torch_install,
)
from accelhal.registry.listing import Backend, list_backends
from accelhal.spi import ENTRY_POINT_GROUP, BackendSpec


class Facts:
    """One host as the doctor sees it.

    Attributes:
        host: where everything is read; a tree of files may stand in for this machine.
        import_limit_s: seconds a child process may take to import one package.
    """

    def __init__(
        self,
        host: Host | None = None,
        *,
        import_limit_s: float = IMPORT_LIMIT_S,
        on_import: Callable[[str], None] = lambda package: None,
    ) -> None:
        self.host = host or Host()
        self.import_limit_s = import_limit_s
        self._on_import = on_import

    @cached_property
    def system(self) -> HostFacts:
        """Machine, kernel and interpreter."""
        return host_facts(self.host)

    @cached_property
    def backends(self) -> tuple[Backend, ...]:
        """Every backend with its probe, most preferred first."""
        return tuple(list_backends(self.host))

    @cached_property
    def specs(self) -> tuple[BackendSpec, ...]:
        """Descriptions of the backends that load and that ACCELHAL_BACKENDS lets through."""
        return loaded_specs(self.backends)

    @cached_property
    def damaged_metadata(self) -> Mapping[str, str]:
        """Installed distributions whose entry points cannot be read: where they lie -> why."""
        return read_entry_points(ENTRY_POINT_GROUP).damaged

    @cached_property
    def boards(self) -> tuple[pci.PciDevice, ...]:
        """Accelerator boards on the PCI bus."""
        return tuple(pci.accelerators(self.host))

    @cached_property
    def torch(self) -> TorchInstall | None:
        """The installed torch, read from its files."""
        return read_torch_install(self.host)

    @cached_property
    def autoload(self) -> tuple[InstalledEntryPoint, ...]:
        """Packages that torch is told to load inside `import torch`."""
        return autoload_entries()

    @property
    def autoload_enabled(self) -> bool:
        """Whether the environment lets torch load them."""
        return autoload_enabled(self.host)

    @cached_property
    def imports(self) -> tuple[ImportReport, ...]:
        """Torch and every installed vendor package, each imported in a child process."""
        # Here, because only --deep needs the machinery for processes.
        from accelhal.doctor.import_runner import import_in_children

        return import_in_children(
            self._import_jobs(), limit_s=self.import_limit_s, on_start=self._on_import
        )

    def _import_jobs(self) -> list[ImportJob]:
        if self.torch is None:
            return []
        inside_torch = tuple(
            spec.name
            for spec in self.specs
            if spec.torch_package is None and not spec.simulated and spec.pci_vendor_ids
        )
        return [
            ImportJob("torch", inside_torch),
            *(
                ImportJob(spec.torch_package, (spec.name,))
                for spec in self.specs
                if spec.torch_package and self.host.find_package(spec.torch_package)
            ),
        ]
