"""All checks, lower layers first, and the choice among them by id."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from accelhal.doctor.checks import (
    backends,
    bus,
    container,
    device,
    device_count,
    device_open,
    device_partition,
    device_use,
    driver_kernel,
    driver_library,
    driver_nodes,
    driver_versions,
    environment,
    environment_debug,
    environment_memory,
    framework,
    framework_build,
    framework_libraries,
    framework_pairs,
    hardware,
    host,
    imports,
    kernel_log,
    links,
    memory,
    performance_heartbeat,
    performance_measure,
    performance_occupancy,
    performance_spin,
    performance_throttle,
    performance_watch,
    plugins,
    sensors,
    topology,
)
from accelhal.doctor.engine import DEFAULT_SCENE
from accelhal.doctor.texts import TEXTS
from accelhal.errors import BackendLoadError, UsageError, did_you_mean, warn
from accelhal.registry.extensions import load_extension
from accelhal.registry.vendor_hosts import vendor_host
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check, Cost, DoctorRules, Text

CHECKS: tuple[Check, ...] = (
    host.PCI,
    plugins.LOAD,
    driver_kernel.FOREIGN,
    driver_kernel.MODULE,
    container.MOUNTS,
    container.CGROUP,
    driver_nodes.NODES,
    driver_library.USERLIB,
    driver_versions.MATCH,
    driver_versions.TOOLKIT,
    driver_versions.FIRMWARE,
    device_count.COUNT,
    device.MASK,
    device_partition.PARTITION,
    device_use.BUSY,
    device_use.BALANCE,
    environment.OWN_VARIABLES,
    environment_debug.DEBUG,
    environment_debug.PRELOAD,
    environment_memory.SHARED,
    framework_build.BUILD,
    framework_libraries.LIBPATH,
    backends.PROBE,
    framework_pairs.ARCH,
    framework_pairs.MATCH,
    framework.AUTOLOAD,
    framework.PRIVATE_USE,
    hardware.LOST,
    hardware.ECC,
    hardware.REMAP,
    hardware.FAULT_CODES,
    hardware.INFOROM,
    links.PCIE,
    sensors.READ,
    sensors.HEAT,
    sensors.POWER,
    sensors.CLOCK,
    sensors.REASONS,
    sensors.AIR,
    kernel_log.OTHER,
    topology.P2P,
    topology.NUMA,
    topology.CPU_BINDING,
    bus.ACCESS_CONTROLS,
    bus.IOMMU,
    imports.SEES,
    device_open.OPEN,
    memory.FRAGMENT,
    memory.OOM,
    performance_heartbeat.ALIVE,
    performance_spin.SPIN,
    performance_watch.UTIL,
    performance_watch.MEMBW,
    performance_occupancy.OCCUPANCY,
    performance_watch.TRANSFER,
    performance_throttle.THROTTLE,
    links.REPLAY,
    performance_throttle.MEMORY_ERRORS,
    performance_measure.MEASURE,
    performance_measure.BANDWIDTH,
)
"""The checks that speak of no vendor, lower layers first."""


@dataclass(frozen=True)
class Catalogue:
    """The checks that can run here, and their words.

    Attributes:
        checks: lower layers first.
        texts: code -> text.
    """

    checks: tuple[Check, ...]
    texts: Mapping[str, Text]

    def select(
        self, ids: Sequence[str], scene: Collection[Cost] = DEFAULT_SCENE
    ) -> tuple[Check, ...]:
        """The checks with these ids, in causal order; without ids, all that the scene asks for.

        Raises:
            UsageError: an id that no check has.
        """
        known = [check.id for check in self.checks]
        unknown = next((name for name in ids if name not in known), None)
        if unknown is not None:
            raise UsageError(
                f"no check is named {unknown!r}",
                operation="doctor",
                hint=f"{did_you_mean(unknown, known)}`accelhal doctor --list-checks` shows them "
                "all",
            )
        if ids:
            return tuple(check for check in self.checks if check.id in ids)
        return tuple(check for check in self.checks if check.cost in scene)


def catalogue(specs: Iterable[BackendSpec] = ()) -> Catalogue:
    """The core's checks and those that plugins add; a plugin whose rules do not load is warned of.

    Args:
        specs: the backends whose rules to add.
    """
    checks, texts = list(CHECKS), dict(TEXTS)
    specs = tuple(specs)
    debug = checks.index(environment_debug.DEBUG)
    checks[debug] = environment_debug.explained(checks[debug], specs)
    for spec in specs:
        host = vendor_host(spec)
        checks += map(kernel_log.family_check, host.log_families)
        checks += [links.link_check(host.links)] if host.links else []
        try:
            rules = load_extension(spec, "doctor_rules", DoctorRules)
        except BackendLoadError as error:
            warn(str(error))
            continue
        if rules is not None:
            checks += rules.checks
            texts |= rules.texts
    return Catalogue(_in_causal_order(checks), texts)


def _in_causal_order(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Each check after those that it depends on, else as given; of equal ids the first stands."""
    by_id: dict[str, Check] = {}
    for check in checks:
        by_id.setdefault(check.id, check)
    ordered: dict[str, Check] = {}

    def add(check: Check, above: tuple[str, ...]) -> None:
        for lower in check.depends_on:
            if lower in by_id and lower not in above:
                add(by_id[lower], (*above, check.id))
        ordered.setdefault(check.id, check)

    for check in by_id.values():
        add(check, ())
    return tuple(ordered.values())
