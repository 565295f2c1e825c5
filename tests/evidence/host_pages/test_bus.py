"""lspci, from its narrowest form to its widest: what is not printed is not told."""

from __future__ import annotations

import pytest

from accelhal.evidence.captures import read_capture
from accelhal.evidence.environment import BusBoard
from accelhal.evidence.host_pages import host_pages
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts.host_record import BusPort
from accelhal.host import pci

VENDOR, ROW = next((key, row) for key, row in pci.vendors().items() if "1200" in row.classes)

NARROW = f"17:00.0 Processing accelerators: {ROW.name} Toy One (rev a1)\n"
NUMBERED = f"17:00.0 Processing accelerators [1200]: Toy One [{VENDOR}:0001] (rev a1)\n"
DRIVEN = NUMBERED + "\tSubsystem: Toy [1111:2222]\n\tKernel driver in use: toy\n"
UNDRIVEN = NUMBERED + "\tSubsystem: Toy [1111:2222]\n\tKernel modules: toy, other\n"
WIDE = f"""\
0000:16:01.0 PCI bridge [0604]: Bridges Inc. Switch [1000:c010]
\tBus: primary=16, secondary=17, subordinate=19, sec-latency=0
\tCapabilities: [68] Express (v2) Downstream Port (Slot+), MSI 00
\t\tLnkCap:\tPort #1, Speed 32GT/s, Width x16, ASPM not supported
\t\tLnkSta:\tSpeed 16GT/s (downgraded), Width x8 (downgraded)
\tCapabilities: [148] Access Control Services
\t\tACSCap:\tSrcValid+ ReqRedir+ CmpltRedir+ UpstreamFwd+
\t\tACSCtl:\tSrcValid+ ReqRedir+ CmpltRedir- UpstreamFwd+

0000:{NUMBERED.strip()}
\tNUMA node: 1
\tIOMMU group: 30
\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16
\t\tLnkSta:\tSpeed 2.5GT/s, Width x16
\tKernel driver in use: toy

0000:18:00.0 Ethernet controller [0200]: Wires [8086:1592]
\t\tLnkSta:\tSpeed 16GT/s, Width x16
"""


def shown(text: str) -> Snapshot:
    found = read_capture("a.txt", text, [], host_pages([]))
    (page,) = found.pages
    assert found.unread == ()
    assert (page.line, page.count) == (1, len(text.splitlines()))
    return page.snapshot


def board(snapshot: Snapshot) -> BusBoard:
    assert snapshot.environment is not None
    (found,) = snapshot.environment.boards
    assert (found.address, found.vendor) == ("0000:17:00.0", ROW.name)
    return found


@pytest.mark.parametrize(
    ("text", "number", "driver", "is_told"),
    [
        (NARROW, "", None, False),
        (NUMBERED, "0001", None, False),
        (DRIVEN, "0001", "toy", True),
        (UNDRIVEN, "0001", None, True),
    ],
)
def test_forms_of_one_board(text: str, number: str, driver: str | None, is_told: bool) -> None:
    found = board(shown(text))
    assert (found.id, found.driver, found.driver_shown) == (f"{VENDOR}:{number}", driver, is_told)


def test_links_and_controls() -> None:
    snapshot = shown(WIDE)
    assert (board(snapshot).numa_node, board(snapshot).driver) == (1, "toy")
    assert snapshot.record is not None
    assert snapshot.record.iommu == {"0000:17:00.0": ""}
    assert snapshot.record.ports == (
        BusPort(
            address="0000:16:01.0",
            is_bridge=True,
            behind=(0x17, 0x19),
            speed=16.0,
            max_speed=32.0,
            lanes=8,
            max_lanes=16,
            redirects=("ReqRedir", "UpstreamFwd"),
        ),
        BusPort(
            address="0000:17:00.0",
            speed=2.5,
            max_speed=32.0,
            lanes=16,
            max_lanes=16,
            redirects=(),
        ),
    )


def test_controls_that_may_not_be_read_are_not_told() -> None:
    denied = "0000:16:01.0 PCI bridge [0604]: B [1000:c010]\n\tCapabilities: <access denied>\n"
    record = shown(denied).record
    assert record is not None
    assert record.ports == (BusPort(address="0000:16:01.0", is_bridge=True),)
