"""Where the dynamic loader would find a shared library, told from files; nothing is loaded."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from accelhal.host.host import Host

_AT_SECURE = 23
"""linux/auxvec.h"""

_CACHE = "/etc/ld.so.cache"
_MAPS = "/proc/self/maps"

_LINKS = 40
"""Links that the kernel follows in one path: path_resolution(7)."""

_SYSTEM_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
_MULTIARCH_FOLDERS = ("/lib/*-linux-gnu", "/usr/lib/*-linux-gnu")


@dataclass(frozen=True)
class LibraryFile:
    """How a vendor's driver library is found.

    Attributes:
        soname: what the dynamic loader is asked for.
        variable: the environment variable that names the file instead; empty where there is none.
        paths: where the vendor's installers put it, tried last.
        homes: (variable in which the vendor's installers name an absolute folder, the file's place
            below it), tried after the loader.

    A process with raised rights follows no variable.
    """

    soname: str
    variable: str = ""
    paths: tuple[str, ...] = ()
    homes: tuple[tuple[str, str], ...] = ()

    @property
    def hint(self) -> str:
        """What to do where no file loads."""
        named = f", or name the file in {self.variable}" if self.variable else ""
        return f"install the driver{named}"

    def candidates(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """What to ask the loader for, in this order."""
        if has_raised_rights():
            return (self.soname, *self.paths)
        chosen = environ.get(self.variable) if self.variable else None
        if chosen:
            return (chosen,)
        folders = ((environ.get(variable, ""), place) for variable, place in self.homes)
        homes = (f"{folder}/{place}" for folder, place in folders if os.path.isabs(folder))
        return (self.soname, *homes, *self.paths)

    def is_there(self, host: Host) -> bool:
        """Whether the loader would find a file; nothing is loaded."""
        return any(
            host.exists(name) if name.startswith("/") else find_library(host, name) is not None
            for name in self.candidates(host.environ)
        )


def has_raised_rights() -> bool:
    """Whether the process runs with rights that its caller does not have (AT_SECURE)."""
    getauxval = getattr(ctypes.CDLL(None), "getauxval", None)
    if getauxval is None:
        return os.getuid() != os.geteuid() or os.getgid() != os.getegid()
    getauxval.restype, getauxval.argtypes = ctypes.c_ulong, [ctypes.c_ulong]
    return bool(getauxval(_AT_SECURE))


def find_library(host: Host, name: str, package_folders: Sequence[str] = ()) -> str | None:
    """The file that loading `name` ("libfoo.so.1") would take, or None where there is none.

    Looks where ld.so(8) looks: LD_PRELOAD, the folders a package carries in its libraries' run
    path, LD_LIBRARY_PATH, the loader's cache, the system folders; then beside the interpreter
    (whose own run path counts too), and among what this process has loaded already.
    """
    for entry in re.split(r"[ :]", host.environ.get("LD_PRELOAD", "")):
        if os.path.basename(entry) == name:
            return entry
    listed = re.split(r"[:;]", host.environ.get("LD_LIBRARY_PATH", ""))
    folders = [*package_folders, *(os.path.abspath(folder) for folder in listed if folder)]
    return (
        _first_existing(host, name, folders)
        or _cached(host, name)
        or _first_existing(host, name, _system_folders(host))
        or _loaded(host, name)
    )


def named_file(host: Host, path: str) -> str:
    """The path with the name that links of the file lead to: it tells the library's version."""
    for _ in range(_LINKS):
        target = host.link_target(path)
        if target is None:
            break
        path = target
    return path


def _first_existing(host: Host, name: str, folders: Sequence[str]) -> str | None:
    paths = (f"{folder}/{name}" for folder in folders)
    return next((path for path in paths if host.exists(path)), None)


def _cached(host: Host, name: str) -> str | None:
    text = host.read_text(_CACHE) or ""
    paths: Iterator[str] = (
        match[0] for match in re.finditer(rf"/[^\0]*/{re.escape(name)}(?=\0)", text)
    )
    return next((path for path in paths if host.exists(path)), None)


def _system_folders(host: Host) -> list[str]:
    multiarch = [folder for pattern in _MULTIARCH_FOLDERS for folder in host.glob(pattern)]
    beside = [f"{prefix}/lib" for prefix in dict.fromkeys((sys.prefix, sys.base_prefix))]
    return [*_SYSTEM_FOLDERS, *multiarch, *beside]


def _loaded(host: Host, name: str) -> str | None:
    """The file of this process's memory map; it carries the file's own name, not the link's."""
    stem = re.escape(name.partition(".so")[0])
    match = re.search(rf"/\S*/{stem}\.so\S*$", host.read_text(_MAPS) or "", re.MULTILINE)
    return match[0] if match else None
