"""All checks, lower layers first, and the choice among them by id."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from accelhal.doctor.checks import (
    backends,
    bus,
    device,
    driver,
    environment,
    framework,
    host,
    imports,
    plugins,
    topology,
)
from accelhal.doctor.engine import DEFAULT_SCENE
from accelhal.doctor.texts import TEXTS
from accelhal.errors import BackendLoadError, UsageError, did_you_mean, warn
from accelhal.registry.extensions import load_extension
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check, Cost, DoctorRules, Text

CHECKS: tuple[Check, ...] = (
    host.PCI,
    plugins.LOAD,
    driver.NODES,
    device.MASK,
    environment.OWN_VARIABLES,
    backends.PROBE,
    framework.BUILD,
    framework.AUTOLOAD,
    framework.PRIVATE_USE,
    topology.P2P,
    topology.NUMA,
    topology.CPU_BINDING,
    bus.ACCESS_CONTROLS,
    bus.IOMMU,
    imports.SEES,
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
    for spec in specs:
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
