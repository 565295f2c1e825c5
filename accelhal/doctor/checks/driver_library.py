"""The libraries of the driver that programs load: are they there, and are they the driver's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from accelhal.doctor.facts import Facts
from accelhal.doctor.presence import of_each_vendor
from accelhal.facts import Finding, FindingState
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check, NotShownError, VendorHost

_ID = "driver.userlib"

_STUB_FOLDERS = frozenset({"stubs", "devlib"})
"""Folders of toolkits with libraries to link against that do nothing."""


def _libraries(facts: Facts) -> Iterator[Finding]:
    yield from of_each_vendor(_ID, facts, _judge)


def _judge(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Iterator[Finding]:
    if not vendor.libraries:
        return
    seen = facts.record.libraries
    if seen is None:
        raise NotShownError(
            "where the loader finds the driver's libraries",
            commands=tuple(f"ldconfig -p | grep {library}" for library in vendor.libraries),
        )
    elsewhere = facts.record.unlisted_libraries
    evidence = {
        library: seen[library] or elsewhere.get(library, "not found")
        for library in vendor.libraries
        if library in seen
    }
    missing = [library for library in evidence if not seen[library] and library not in elsewhere]
    stubs = [library for library in evidence if _is_stub(seen[library])]
    unlisted = [library for library in evidence if library in elsewhere]
    quiet = True
    for finding in vendor.library_rule(facts):
        quiet = False
        yield finding
    if missing:
        yield Finding(
            _ID,
            "userlib.missing",
            FindingState.FAIL,
            {"libraries": ", ".join(missing)},
            spec.name,
            evidence,
            commands=vendor.install,
            needs_root=True,
        )
    if stubs:
        folder = str(PurePosixPath(seen[stubs[0]]).parent)
        yield Finding(
            _ID,
            "userlib.stub",
            FindingState.FAIL,
            {"libraries": ", ".join(stubs), "folder": folder},
            spec.name,
            evidence,
            commands=("echo $LD_LIBRARY_PATH", without_folder(folder)),
        )
    if unlisted:
        folders = dict.fromkeys(str(PurePosixPath(elsewhere[name]).parent) for name in unlisted)
        yield Finding(
            _ID,
            "userlib.unlisted",
            FindingState.INFO,
            {"libraries": ", ".join(unlisted), "folder": ", ".join(folders)},
            spec.name,
            evidence,
            commands=(f"export LD_LIBRARY_PATH={':'.join(folders)}:$LD_LIBRARY_PATH",),
        )
    if quiet and not (missing or stubs or unlisted):
        params = {"libraries": ", ".join(evidence)}
        yield Finding(_ID, "userlib.found", FindingState.OK, params, spec.name, evidence)


def _is_stub(path: str) -> bool:
    return not _STUB_FOLDERS.isdisjoint(PurePosixPath(path).parts)


def without_folder(folder: str) -> str:
    """The command that takes a folder off the loader's path."""
    others = f'tr : "\\n" <<< "$LD_LIBRARY_PATH" | grep -vx {folder} | paste -sd :'
    return f"export LD_LIBRARY_PATH=$({others})"


USERLIB = Check(
    _ID,
    "Driver",
    "whether the loader finds the driver's own libraries",
    ("LD_LIBRARY_PATH", "/etc/ld.so.cache", "the library folders"),
    _libraries,
    depends_on=("driver.module", "container.mounts"),
    explanation="Programs reach the driver through its libraries. None to be found is a failure: "
    "install the driver, or give them to the container. A stub that toolkits bring for linking "
    "does nothing, and a library of another release than the driver fails or lacks functions: take "
    "their folders off LD_LIBRARY_PATH. Where the loader looks is as this process has it: run the "
    "doctor in the environment of the job.",
)
