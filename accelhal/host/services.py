"""Whether systemd's services run, told from files: no command is started and no bus is asked."""

from __future__ import annotations

from collections.abc import Iterable

from accelhal.host.host import Host

_SYSTEMD = "/run/systemd/system"
"""There while systemd is the init (sd_booted(3)); a container has no such folder."""

_UNIT_FOLDERS = (
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
)
"""Where units lie: systemd.unit(5)."""

_GROUP_FOLDERS = ("/sys/fs/cgroup/system.slice", "/sys/fs/cgroup/systemd/system.slice")
"""Where a running service has its control group, in version 2 and 1."""


def service_states(host: Host, units: Iterable[str]) -> dict[str, str] | None:
    """Unit ("toyd.service") -> "active", "inactive" or "absent"; None where systemd does not run.

    Active is a service with a process: one that did its work and ended counts as inactive.
    """
    if not host.exists(_SYSTEMD):
        return None
    return {unit: _state(host, unit) for unit in units}


def _state(host: Host, unit: str) -> str:
    if any(host.exists(f"{folder}/{unit}") for folder in _GROUP_FOLDERS):
        return "active"
    known = any(host.exists(f"{folder}/{unit}") for folder in _UNIT_FOLDERS)
    return "inactive" if known else "absent"
