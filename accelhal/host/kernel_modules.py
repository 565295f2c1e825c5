"""Kernel modules: what is loaded, and what was built for the running kernel."""

from __future__ import annotations

import re
from collections.abc import Iterable

from accelhal.host.host import Host

_LOADED = "/proc/modules"


def loaded_modules(host: Host) -> dict[str, str] | None:
    """Loaded module -> its version, empty where it has none; None where that is not shown."""
    text = host.read_text(_LOADED)
    if text is None:
        return None
    names = (line.split(maxsplit=1)[0] for line in text.splitlines() if line.strip())
    return {name: (host.read_text(f"/sys/module/{name}/version") or "").strip() for name in names}


def built_modules(host: Host, kernel: str, names: Iterable[str]) -> dict[str, bool] | None:
    """Module -> whether depmod(8) found a file for that kernel; None where its list is not there.

    Args:
        host: the host to look at.
        kernel: release of the running kernel.
        names: modules as they are called once loaded; their files may have "-" for "_".
    """
    text = host.read_text(f"/lib/modules/{kernel}/modules.dep")
    if text is None:
        return None
    files = re.findall(r"^(?:[^:\n]*/)?([^/:\n]+)\.ko(?:\.\w+)?:", text, re.MULTILINE)
    found = {file.replace("-", "_") for file in files}
    return {name: name in found for name in names}
