"""All checks, lower layers first, and the choice among them by id."""

from __future__ import annotations

from collections.abc import Sequence

from accelhal.doctor.checks import (
    backends,
    device,
    driver,
    environment,
    framework,
    host,
    imports,
    plugins,
)
from accelhal.doctor.engine import Check, Cost
from accelhal.errors import UsageError, did_you_mean

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
    imports.SEES,
)


def select(ids: Sequence[str], *, deep: bool = False) -> list[Check]:
    """The checks with these ids, in causal order; without ids, all that the depth asks for.

    Raises:
        UsageError: an id that no check has.
    """
    known = [check.id for check in CHECKS]
    unknown = next((name for name in ids if name not in known), None)
    if unknown is not None:
        raise UsageError(
            f"no check is named {unknown!r}",
            operation="doctor",
            hint=f"{did_you_mean(unknown, known)}`accelhal doctor --list-checks` shows them all",
        )
    if ids:
        return [check for check in CHECKS if check.id in ids]
    return [check for check in CHECKS if deep or check.cost is Cost.FILES]
