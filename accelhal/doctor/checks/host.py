"""The host's boards: what the PCI bus holds, and whether a plugin drives it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from accelhal.doctor.facts import Facts
from accelhal.doctor.hardware import unclaimed_boards
from accelhal.facts import Finding, FindingState
from accelhal.host import pci
from accelhal.spi.doctor import Check


def _boards_on_the_bus(facts: Facts) -> Iterator[Finding]:
    if facts.live and not facts.host.exists(pci.BUS):
        yield Finding("host.pci", "pci.unreadable", FindingState.UNKNOWN, {"path": pci.BUS})
        return
    if not facts.boards:
        yield Finding("host.pci", "pci.none", FindingState.OK)
        return
    unclaimed = Counter(board.vendor for board in unclaimed_boards(facts))
    for vendor_id, count in Counter(board.vendor for board in facts.boards).items():
        vendor = pci.vendor_of(vendor_id)
        plugin = vendor.plugin
        if vendor_id not in unclaimed:
            code, state = "pci.boards", FindingState.OK
        elif plugin is None:
            code, state = "pci.unsupported", FindingState.INFO
        else:
            code, state = "pci.no_plugin", FindingState.WARN
        yield Finding(
            "host.pci",
            code,
            state,
            {"vendor": vendor.name, "count": count, "plugin": plugin or ""},
            evidence={
                f"{pci.BUS}/{board.address}": (
                    f"{board.vendor}:{board.device}, driver {board.driver or 'none'}"
                )
                for board in facts.boards
                if board.vendor == vendor_id
            },
            commands=(f"pip install {plugin}",) if code == "pci.no_plugin" else (),
        )


PCI = Check(
    "host.pci",
    "Host",
    "accelerator boards on the PCI bus, and whether a plugin drives them",
    (pci.BUS,),
    _boards_on_the_bus,
    explanation="A board that the bus does not show is not seated, not powered, or switched off in "
    "the firmware: no driver can help. A vendor without a plugin is named with the distribution to "
    "install. In a container or virtual machine the bus may be hidden.",
)
