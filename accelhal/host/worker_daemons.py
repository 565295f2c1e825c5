"""Daemons that start the workers of jobs, and the variables that those inherit from them."""

from __future__ import annotations

from collections.abc import Collection

from accelhal.host.host import Host

WORKER_DAEMONS = frozenset({"raylet"})
"""Names of processes that start workers with their own environment (Ray: raylet)."""


def worker_environments(host: Host, names: Collection[str]) -> dict[str, dict[str, str]]:
    """Daemon ("raylet 1234") -> those of the variables that it has; of other users' nothing.

    A daemon that started this very process is left out: it may set them for its workers.

    Args:
        host: the host to look at.
        names: variables to look for.
    """
    found = {}
    for path in host.glob("/proc/[0-9]*/comm"):
        name = (host.read_text(path) or "").strip()
        if name not in WORKER_DAEMONS:
            continue
        folder = path.rpartition("/")[0]
        if folder in _ancestors(host):
            continue
        text = host.read_text(f"{folder}/environ")
        if text:
            pairs = (entry.partition("=") for entry in text.split("\0"))
            seen = {variable: value for variable, _, value in pairs if variable in names}
            found[f"{name} {folder.rpartition('/')[2]}"] = seen
    return found


def _ancestors(host: Host) -> list[str]:
    """The folders of the processes above this one."""
    found: list[str] = []
    place = "/proc/self"
    while (parent := _parent(host, place)) is not None and parent not in found:
        found.append(parent)
        place = parent
    return found


def _parent(host: Host, place: str) -> str | None:
    status = host.read_text(f"{place}/status") or ""
    number = next((line[5:].strip() for line in status.splitlines() if line[:5] == "PPid:"), "0")
    return None if number == "0" else f"/proc/{number}"
