"""The facts that checks judge: each gathered once, when first asked for, without torch."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from accelhal.doctor.imports import (
    IMPORT_LIMIT_S,
    ImportJob,
    ImportReport,
    OpenJob,
    OpenReport,
)
from accelhal.evidence.environment import ListedBackend, loaded_specs
from accelhal.evidence.host_reading import read_record_for
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import BoardReading, Evidence, HostFacts
from accelhal.facts.host_record import AirReading, HostRecord
from accelhal.host import Host, pci
from accelhal.host.air import COMMAND, read_air
from accelhal.host.entry_points import InstalledEntryPoint, read_entry_points
from accelhal.host.system import host_facts
from accelhal.host.torch_install import (
    TorchInstall,
    autoload_enabled,
    autoload_entries,
    read_torch_install,
)
from accelhal.registry.listing import Backend, list_backends
from accelhal.registry.vendor_hosts import vendor_host
from accelhal.spi import ENTRY_POINT_GROUP, BackendSpec
from accelhal.spi.doctor import DoctorFacts, NotShownError, VendorHost

if TYPE_CHECKING:
    from accelhal.doctor.measuring.outcomes import MeasuredBoard
    from accelhal.doctor.watching.window import BoardWindow

_NO_TREE = Path(os.devnull)
"""A root under which no path exists."""


class Facts(DoctorFacts):
    """One host as the doctor sees it.

    Attributes:
        live: False where evidence stands for a host that cannot be asked.
        host: where everything is read; a tree of files may stand in for this machine. For evidence
            an empty tree, with the variables that it shows.
        import_limit_s: seconds a child process may take to import one package.
        deep: whether checks may start child processes.
        only: the boards that --device names, by their keys; None for all.
        force: whether checks that compute may use boards that are in use.
        watch_s: seconds that --watch samples for; 0 without it.
        on_import: told of each package before a child imports it.
        on_measure: told of each board before a child measures it.
        on_watch: told how many seconds of --watch are over.
    """

    def __init__(
        self,
        host: Host | None = None,
        *,
        evidence: Snapshot | None = None,
        only: Collection[object] | None = None,
        force: bool = False,
        watch_s: float = 0.0,
        import_limit_s: float = IMPORT_LIMIT_S,
        deep: bool = False,
    ) -> None:
        self.live = evidence is None
        self._given = evidence
        self.host = _shown_host(evidence) if evidence is not None else host or Host()
        self.import_limit_s = import_limit_s
        self.deep = deep
        self.only = only
        self.force = force
        self.watch_s = watch_s
        self.on_import: Callable[[str], None] = lambda package: None
        self.on_measure: Callable[[str], None] = lambda board: None
        self.on_watch: Callable[[float], None] = lambda seconds: None

    # ---- what plugins' rules read too

    @cached_property
    def snapshot(self) -> Snapshot:
        """The boards, as the driver libraries or the evidence show them."""
        if self._given is not None:
            return self._given
        # Here, because its machinery takes long to import and not every run asks the drivers.
        from accelhal.evidence.taking import take_snapshot

        return take_snapshot(self.host, self.record)

    @cached_property
    def record(self) -> HostRecord:
        """See DoctorFacts."""
        if self._given is not None:
            return self._given.record or HostRecord()
        vendors = [self.vendor_host(spec) for spec in self.specs]
        return read_record_for(self.host, self.specs, vendors)

    @property
    def contained(self) -> bool:
        """See DoctorFacts."""
        if self._given is None:
            return self.system.kind == "container"
        return self._given.host is not None and self._given.host.kind == "container"

    def evidence(self, backend: str) -> Evidence | None:
        """See DoctorFacts."""
        return next((e for e in self.snapshot.evidence if e.backend == backend), None)

    def readings(self, backend: str | None = None) -> list[BoardReading]:
        """See DoctorFacts."""
        return [
            reading
            for evidence in self.snapshot.evidence
            if backend is None or evidence.backend == backend
            for reading in evidence.boards
            if self.only is None or reading.board.key in self.only
        ]

    def versions(self, backend: str) -> Mapping[str, str]:
        """See DoctorFacts."""
        spec = self.spec(backend)
        evidence = self.evidence(backend)
        reported = {} if evidence is None else evidence.versions
        return reported if spec is None else self.vendor_host(spec).versions(self.record, reported)

    def vendor_host(self, spec: BackendSpec) -> VendorHost:
        """What a host with the backend's boards looks like."""
        known = self._vendor_hosts.get(spec.name)
        if known is None:
            known = self._vendor_hosts[spec.name] = vendor_host(spec)
        return known

    @cached_property
    def _vendor_hosts(self) -> dict[str, VendorHost]:
        return {}

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment.

        Raises:
            NotShownError: the evidence has none.
        """
        if self._given is None:
            return self.host.environ
        environment = self._given.environment
        taken_there = environment is not None and bool(environment.versions)
        if not taken_there and self.record.variables is None:
            raise NotShownError("the environment's variables", commands=("env",))
        return self.host.environ

    # ---- what the core's checks read

    @cached_property
    def system(self) -> HostFacts:
        """Machine, kernel and interpreter.

        Raises:
            NotShownError: the evidence does not tell.
        """
        if self._given is None:
            return host_facts(self.host)
        if self._given.host is None:
            raise NotShownError("the machine", commands=("accelhal snapshot FILE",))
        return self._given.host

    @cached_property
    def backends(self) -> tuple[Backend, ...]:
        """Every backend of this Python with its probe, most preferred first.

        Over evidence they say what accelhal knows here, and nothing of the host: see `listed`.
        """
        return tuple(list_backends(self.host))

    @property
    def listed(self) -> tuple[ListedBackend, ...]:
        """The backends as they were listed on the host that the evidence shows.

        Raises:
            NotShownError: it does not list them.
        """
        environment = self.snapshot.environment
        if environment is None or not environment.backends:
            raise NotShownError("the plugins there", commands=("accelhal snapshot FILE",))
        return environment.backends

    @cached_property
    def specs(self) -> tuple[BackendSpec, ...]:
        """Descriptions of the backends that load and that ACCELHAL_BACKENDS lets through."""
        return loaded_specs(self.backends)

    def spec(self, backend: str | None) -> BackendSpec | None:
        """The description of a backend; None of one that does not load, or is not installed."""
        return next((spec for spec in self.specs if spec.name == backend), None)

    @cached_property
    def damaged_metadata(self) -> Mapping[str, str]:
        """Installed distributions whose entry points cannot be read: where they lie -> why."""
        return read_entry_points(ENTRY_POINT_GROUP).damaged

    @cached_property
    def boards(self) -> tuple[pci.PciDevice, ...]:
        """Accelerator boards on the PCI bus.

        Raises:
            NotShownError: the evidence does not show the bus.
        """
        if self._given is None:
            return tuple(pci.accelerators(self.host))
        if self._given.environment is None:
            raise NotShownError("the PCI bus", commands=("lspci -nnk", "accelhal snapshot FILE"))
        return tuple(
            pci.PciDevice(
                address=board.address,
                vendor=board.id.partition(":")[0],
                device=board.id.partition(":")[2],
                pci_class="",
                driver=board.driver,
                numa_node=board.numa_node,
                driver_shown=board.driver_shown,
            )
            for board in self._given.environment.boards
        )

    @cached_property
    def torch(self) -> TorchInstall | None:
        """The installed torch, read from its files."""
        return read_torch_install(self.host)

    @cached_property
    def autoload(self) -> tuple[InstalledEntryPoint, ...]:
        """Packages that torch is told to load inside `import torch`.

        Raises:
            NotShownError: evidence does not list them.
        """
        if not self.live:
            raise NotShownError("what torch loads by itself", commands=("accelhal doctor",))
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
            self._import_jobs(), limit_s=self.import_limit_s, on_start=self.on_import
        )

    @cached_property
    def opened(self) -> tuple[OpenReport, ...]:
        """Every device that torch counts, opened in a child process and freed again."""
        from accelhal.doctor.open_runner import open_in_children

        jobs = [
            OpenJob(report.job.package, name, count)
            for report in self.imports
            for name, count in report.counts.items()
        ]
        return open_in_children(jobs, limit_s=self.import_limit_s, on_start=self.on_import)

    @cached_property
    def air(self) -> tuple[AirReading, ...]:
        """The air through the machine.

        Raises:
            NotShownError: it cannot be read, or is not in the evidence.
        """
        commands = (f"sudo {' '.join(COMMAND)}",)
        found = self.record.air
        if found is None and self.live:
            answer = read_air()
            if isinstance(answer, str):
                raise NotShownError("the air through the machine", answer, commands)
            return answer
        if found is None:
            raise NotShownError("the air through the machine", commands=commands)
        return found

    @cached_property
    def measured(self) -> tuple[MeasuredBoard, ...]:
        """The whole boards, each at rest measured in a child process."""
        # Here, as above: only --measure needs it.
        from accelhal.doctor.measuring.runner import measure_boards

        return measure_boards(
            [reading for reading in self.readings() if reading.board.key is not None],
            force=self.force,
            on_start=self.on_measure,
        )

    @cached_property
    def watched(self) -> tuple[BoardWindow, ...]:
        """The boards over the seconds of --watch."""
        from accelhal.doctor.watching.sampling import watch_boards

        return watch_boards(self.readings(), seconds=self.watch_s, on_tick=self.on_watch)

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


def _shown_host(evidence: Snapshot) -> Host:
    """No files, and the variables that the evidence shows."""
    shown: dict[str, str] = {}
    if evidence.environment is not None:
        shown |= evidence.environment.variables
    if evidence.record is not None:
        shown |= evidence.record.variables or {}
    return Host(_NO_TREE, shown, lambda package: None, lambda distribution: None)
