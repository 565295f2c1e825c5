"""The deep look at devices: does each one open, in a process that may be lost over it."""

from __future__ import annotations

from collections.abc import Iterator

from accelhal.doctor.facts import Facts
from accelhal.facts import Finding, FindingState
from accelhal.spi.doctor import Check, Cost

_ID = "device.open"


def _open(facts: Facts) -> Iterator[Finding]:
    reports = facts.opened
    if not reports:
        yield Finding(_ID, "open.nothing", FindingState.SKIP)
    holders = {spec.name: facts.vendor_host(spec).who_holds for spec in facts.specs}
    for report in reports:
        name = report.job.device_type
        if report.opened:
            indices = ", ".join(map(str, report.opened))
            yield Finding(_ID, "open.opened", FindingState.OK, {"indices": indices}, name)
        for index, error in report.failed.items():
            yield Finding(
                _ID,
                "open.failed",
                FindingState.FAIL,
                {"index": index, "error": error},
                name,
                {"printed last": report.output} if report.output else {},
                (
                    *holders.get(name, ()),
                    "accelhal doctor device.busy driver.match driver.firmware",
                ),
            )
        if report.untried:
            params = {"count": report.untried}
            yield Finding(_ID, "open.untried", FindingState.UNKNOWN, params, name)


OPEN = Check(
    _ID,
    "Devices",
    "each device opened and freed again, in a child process",
    ("child processes", "messages of programs"),
    _open,
    Cost.CHILD,
    depends_on=("framework.sees", "framework.match", "driver.match", "device.mask"),
    explanation="One number is written to each device that torch counts and read back, which takes "
    "some hundred MB of its memory for a moment. A device that is counted and does not open is "
    "held by another process or container, or its driver and firmware are in a bad state: compare "
    "their versions, look who holds it, then reset the board. --timeout limits each child.",
)
