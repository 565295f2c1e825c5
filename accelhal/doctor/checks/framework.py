"""What torch loads by itself, and who may extend it."""

from __future__ import annotations

from collections.abc import Iterator

from accelhal.doctor.facts import Facts
from accelhal.doctor.frameworks import has_package
from accelhal.facts import DEFECTS, Finding, FindingState
from accelhal.host.entry_points import InstalledEntryPoint
from accelhal.host.torch_install import (
    AUTOLOAD_GROUP,
    AUTOLOAD_VARIABLE,
)
from accelhal.spi.doctor import Check

_FIRST_AUTOLOADING = (2, 5)
"""torch 2.5 is the first that loads the group's packages (its release notes)."""


def _autoload(facts: Facts) -> Iterator[Finding]:
    names = ", ".join(entry.name for entry in facts.autoload)
    value = facts.host.environ.get(AUTOLOAD_VARIABLE, "")
    params = {"names": names, "variable": AUTOLOAD_VARIABLE, "value": value}
    if not facts.autoload:
        yield _of_autoload("autoload.none", FindingState.OK)
    elif facts.torch is None or facts.torch.release < _FIRST_AUTOLOADING:
        yield _of_autoload("autoload.unsupported", FindingState.INFO, **params)
    elif not facts.autoload_enabled:
        yield _of_autoload("autoload.off", FindingState.INFO, **params)
    else:
        broken = [finding for entry in facts.autoload if (finding := _broken(entry, facts))]
        yield from broken or [_of_autoload("autoload.on", FindingState.OK, **params)]


def _broken(entry: InstalledEntryPoint, facts: Facts) -> Finding | None:
    """The finding for an entry that would make every plain `import torch` fail, if it would."""
    package = entry.package
    if facts.host.find_package(package) is None:
        code, reason = "autoload.missing", f"the package {package} is not there"
    else:
        owner = next(
            (b for b in facts.backends if b.spec is not None and b.spec.torch_package == package),
            None,
        )
        if owner is None or owner.probe.status not in DEFECTS:
            return None
        code, reason = "autoload.broken", owner.probe.reason
    return Finding(
        "framework.autoload",
        code,
        FindingState.FAIL,
        {"package": package, "distribution": entry.distribution, "reason": reason},
        evidence={f"entry point {entry.name} of {AUTOLOAD_GROUP}": entry.value},
        commands=(f"export {AUTOLOAD_VARIABLE}=0", f"pip uninstall {entry.distribution}"),
        confidence="certain" if code == "autoload.missing" else "likely",
    )


def _of_autoload(code: str, state: FindingState, **params: str) -> Finding:
    return Finding("framework.autoload", code, state, params)


def _private_use(facts: Facts) -> Iterator[Finding]:
    claimants = [
        spec.torch_package
        for spec in facts.specs
        if spec.needs_privateuse1 and spec.torch_package and has_package(spec.torch_package, facts)
    ]
    if len(claimants) > 1:
        code, state = "privateuse1.several", FindingState.WARN
    elif claimants:
        code, state = "privateuse1.one", FindingState.OK
    else:
        code, state = "privateuse1.none", FindingState.OK
    yield Finding(
        "framework.privateuse1",
        code,
        state,
        {"packages": ", ".join(claimants)},
        commands=(f"export {AUTOLOAD_VARIABLE}=0",) if len(claimants) > 1 else (),
    )


AUTOLOAD = Check(
    "framework.autoload",
    "Framework",
    "packages that torch loads inside its own import, and whether one would make it fail",
    (f"entry points of group {AUTOLOAD_GROUP}", AUTOLOAD_VARIABLE),
    _autoload,
    explanation="Since torch 2.5, `import torch` also loads the packages registered in this group, "
    "and one that fails makes the whole import fail, in programs that never use it. The variable "
    "turns that off; accelhal loads the packages by itself either way.",
)
PRIVATE_USE = Check(
    "framework.privateuse1",
    "Framework",
    "claimants of torch's one place for out-of-tree devices",
    ("installed packages",),
    _private_use,
    explanation="torch has one place for a device type that is not built in, and the package "
    "loaded first gets it. With several installed, which one works depends on the order of "
    "imports: keep one in each environment.",
)
