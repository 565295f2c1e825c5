"""The toolkit's libraries as the loader finds them for the framework."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from accelhal.doctor.checks.driver_library import without_folder
from accelhal.doctor.facts import Facts
from accelhal.doctor.frameworks import has_package, installed_torch
from accelhal.doctor.presence import of_each_vendor
from accelhal.facts import Finding, FindingState
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check, NotShownError, VendorHost
from accelhal.spi.versions import version_key

_ID = "framework.libpath"

_PATH = "LD_LIBRARY_PATH"

_RELEASE = re.compile(r"\.so\.([0-9]+\.[0-9]+)")
"""Major and minor release in a library's file name ("libtoy.so.12.4.127")."""


def _library_path(facts: Facts) -> Iterator[Finding]:
    yield from of_each_vendor(_ID, facts, _judge)


def _judge(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Iterator[Finding]:
    if not (vendor.toolkit_libraries or vendor.runtime_libraries):
        return
    seen = facts.record.libraries
    if seen is None:
        names = (*vendor.toolkit_libraries, *vendor.runtime_libraries)
        raise NotShownError(
            "where the loader finds the toolkit's libraries",
            commands=(f"echo ${_PATH}", *(f"ldconfig -p | grep {name}" for name in names)),
        )
    found = [*_toolkit(spec, vendor, facts, seen), *_shadowing(spec, vendor, facts, seen)]
    yield from found or [Finding(_ID, "libpath.sound", FindingState.OK, device=spec.name)]


def _toolkit(
    spec: BackendSpec, vendor: VendorHost, facts: Facts, seen: Mapping[str, str]
) -> Iterator[Finding]:
    if spec.torch_package is None or not has_package(spec.torch_package, facts):
        return
    missing = [name for name in vendor.toolkit_libraries if seen.get(name) == ""]
    if not missing:
        return
    elsewhere = {
        name: facts.record.unlisted_libraries[name]
        for name in missing
        if name in facts.record.unlisted_libraries
    }
    folders = ", ".join(
        dict.fromkeys(str(PurePosixPath(path).parent) for path in elsewhere.values())
    )
    yield Finding(
        _ID,
        "libpath.not_set_up" if elsewhere else "libpath.no_toolkit",
        FindingState.FAIL,
        {"libraries": ", ".join(missing), "package": spec.torch_package, "folder": folders},
        spec.name,
        {name: elsewhere.get(name, "not found") for name in missing},
        vendor.toolkit_setup,
    )


def _shadowing(
    spec: BackendSpec, vendor: VendorHost, facts: Facts, seen: Mapping[str, str]
) -> Iterator[Finding]:
    """Libraries of an older toolkit that the variable puts before those that torch brings."""
    if not vendor.runtime_libraries:
        return
    torch = installed_torch(facts)
    built = (torch.builds or {}).get(vendor.torch_build, "") if torch is not None else ""
    folders = [str(PurePosixPath(one)) for one in facts.variables.get(_PATH, "").split(":") if one]
    for name in vendor.runtime_libraries:
        path = PurePosixPath(seen.get(name, ""))
        release = _RELEASE.search(path.name)
        if not (built and release and str(path.parent) in folders):
            continue
        if _major(built) == _major(release[1]) and version_key(release[1]) < version_key(built):
            yield Finding(
                _ID,
                "libpath.older",
                FindingState.WARN,
                {
                    "library": name,
                    "release": release[1],
                    "built": built,
                    "folder": str(path.parent),
                    "variable": _PATH,
                },
                spec.name,
                {name: str(path)},
                (without_folder(str(path.parent)),),
            )


def _major(release: str) -> str:
    return release.partition(".")[0]


LIBPATH = Check(
    _ID,
    "Framework",
    "whether the loader finds the toolkit's libraries, and no older ones before torch's own",
    (_PATH, "/etc/ld.so.cache", "the toolkit's folders"),
    _library_path,
    depends_on=("driver.module",),
    explanation="Some adapters load libraries of the vendor's toolkit, which the loader finds only "
    "after the toolkit's script was sourced in the same shell: without them the import fails. "
    f"Other builds bring their libraries along, and folders on {_PATH} come before these: an older "
    "release of the same major there is a warning, for symbols go missing. The loader is looked at "
    "as this process has it: run the doctor in the environment of the job.",
)
