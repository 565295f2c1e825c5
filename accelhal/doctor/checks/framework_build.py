"""The installed torch: its version, and whether it was built for the boards that are here."""

from __future__ import annotations

from collections.abc import Iterator

from accelhal.doctor.facts import Facts
from accelhal.doctor.frameworks import InstalledTorch, installed_torch
from accelhal.doctor.presence import present_specs
from accelhal.facts import Finding, FindingState
from accelhal.host.torch_install import MINIMUM_TORCH, too_old
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check, NotShownError

_ID = "framework.build"


def _build(facts: Facts) -> Iterator[Finding]:
    torch = installed_torch(facts)
    if torch is None:
        yield _absent(facts)
        return
    yield _version(torch)
    for spec in _present(facts):
        wrong = _wrong_build(torch, spec, facts)
        if wrong is not None:
            yield wrong


def _present(facts: Facts) -> list[BackendSpec]:
    try:
        return present_specs(facts)
    except NotShownError:
        return []  # no board is known that the build could be wrong for


def _absent(facts: Facts) -> Finding:
    folder = facts.host.find_package("torch")
    if folder is None:
        command = "pip install 'accelhal[torch]'  # or your vendor's torch"
        return Finding(_ID, "torch.missing", FindingState.INFO, commands=(command,))
    return Finding(
        _ID,
        "torch.unreadable",
        FindingState.WARN,
        {"path": str(folder)},
        commands=("pip show torch",),
    )


def _version(torch: InstalledTorch) -> Finding:
    old = too_old(torch.version) is not None
    return Finding(
        _ID,
        "torch.old" if old else "torch.installed",
        FindingState.FAIL if old else FindingState.OK,
        {"version": torch.version, "toolkits": _toolkits(torch), "minimum": MINIMUM_TORCH},
        evidence={torch.source: torch.version},
        commands=(f"pip install 'torch>={MINIMUM_TORCH}'",) if old else (),
    )


def _toolkits(torch: InstalledTorch) -> str:
    if torch.builds is None:
        return "what is not shown"
    return ", ".join(f"{name} {version}" for name, version in torch.builds.items()) or "cpu"


def _wrong_build(torch: InstalledTorch, spec: BackendSpec, facts: Facts) -> Finding | None:
    vendor = facts.vendor_host(spec)
    if not vendor.torch_build or torch.builds is None or vendor.torch_build in torch.builds:
        return None
    return Finding(
        _ID,
        "torch.other_build" if torch.builds else "torch.cpu_build",
        FindingState.FAIL,
        {"version": torch.version, "toolkits": _toolkits(torch), "needed": vendor.torch_build},
        spec.name,
        {torch.source: torch.version},
        vendor.install_framework(None),
    )


BUILD = Check(
    _ID,
    "Framework",
    "the installed torch: its version, and whether it was built for the boards that are here",
    ("torch/version.py, not imported",),
    _build,
    depends_on=("driver.module",),
    explanation=f"accelhal needs torch {MINIMUM_TORCH} or newer. A build for the CPU alone, or for "
    "another vendor's boards, never sees a board, and programs fall back to the CPU without a "
    "word: a failure where boards are present. Install the build that is named; pip keeps a wrong "
    "build of the same version unless --force-reinstall is given.",
)
