"""`lspci` in all its widths: boards, the bridges above them, links and access controls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from accelhal.evidence.environment import BusBoard, Environment
from accelhal.evidence.host_pages.page import HostPage, Shown
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts.host_record import BusPort, HostRecord
from accelhal.host import pci
from accelhal.host.pci_ports import REDIRECTS

_HEAD = re.compile(
    r"^(?P<address>(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) "
    r"(?P<kind>[^\[:]{3,60}?)(?: \[(?P<number>[0-9a-f]{4})\])?: (?P<name>.*)$"
)
_IDS = re.compile(r"\[(?P<vendor>[0-9a-f]{4}):(?P<device>[0-9a-f]{4})\]")
_KINDS = {
    "VGA compatible controller": "0300",
    "3D controller": "0302",
    "Display controller": "0380",
    "Processing accelerators": "1200",
}
"""lspci's words for the classes of boards."""

_BRIDGE = "PCI bridge"

_CAPABLE = re.compile(r"LnkCap:.*Speed ([0-9.]+)GT/s.*Width x([0-9]+)")
_NOW = re.compile(r"LnkSta:.*Speed ([0-9.]+)GT/s.*Width x([0-9]+)")
_BUSES = re.compile(r"Bus: primary=[0-9a-f]{2}, secondary=([0-9a-f]{2}), subordinate=([0-9a-f]{2})")
_CONTROLS = re.compile(r"ACSCtl:\s*(.*)$")
_DRIVER = re.compile(r"Kernel driver in use: (\S+)")
_MODULES = re.compile(r"Kernel modules: ")
"""With the drivers: `lspci -k`, where any module could take the function."""

_NODE = re.compile(r"NUMA node: ([0-9]+)")
_GROUP = re.compile(r"IOMMU group: ([0-9]+)")
_DENIED = "<access denied>"


def _read(lines: Sequence[str]) -> Shown:
    end, functions = 0, []
    while end < len(lines):
        head = _HEAD.match(lines[end])
        if head is None:
            break
        rest = (lines[place] for place in range(end + 1, len(lines)))
        body = list(takewhile(lambda line: line[:1] in ("\t", " ") and line.strip(), rest))
        functions.append(_Function(head, body))
        end += 1 + len(body)
        while end < len(lines) and not lines[end].strip():
            end += 1
    ports = tuple(port for function in functions if (port := function.port()) is not None)
    grouped = {f.address: "" for f in functions if f.board() is not None and f.has(_GROUP)}
    detailed = any(function.body for function in functions)
    return Shown(
        Snapshot(
            environment=Environment(
                boards=tuple(board for f in functions if (board := f.board()) is not None)
            ),
            record=HostRecord(
                ports=ports if detailed else None, iommu=grouped if grouped else None
            ),
        ),
        end,
    )


class _Function:
    """One function on the bus, as lspci prints it."""

    def __init__(self, head: re.Match[str], body: Sequence[str]) -> None:
        address = head["address"]
        self.address = address if address.count(":") == 2 else f"0000:{address}"
        self.kind, self.number, self.name = head["kind"].strip(), head["number"], head["name"]
        self.body = body

    def has(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The first match in the body."""
        return next((found for line in self.body if (found := pattern.search(line))), None)

    def board(self) -> BusBoard | None:
        """The accelerator board that it is, of a known vendor and a class of its boards."""
        ids = _IDS.search(self.name)
        kind = self.number or _KINDS.get(self.kind)
        vendor = ids["vendor"] if ids else self._vendor_named()
        known = pci.vendors().get(vendor or "")
        if known is None or kind not in known.classes:
            return None
        driver, node = self.has(_DRIVER), self.has(_NODE)
        return BusBoard(
            address=self.address,
            vendor=known.name,
            id=f"{known.id}:{ids['device'] if ids else ''}",
            driver=driver[1] if driver else None,
            numa_node=int(node[1]) if node else None,
            backend=None,
            driver_shown=driver is not None or self.has(_MODULES) is not None,
        )

    def _vendor_named(self) -> str | None:
        return next(
            (
                key
                for key, row in pci.vendors().items()
                if self.name.lower().startswith(row.name.lower())
            ),
            None,
        )

    def port(self) -> BusPort | None:
        """Its link and controls, for boards and bridges whose body was printed."""
        is_bridge = self.kind == _BRIDGE
        if not self.body or not (is_bridge or self.board()):
            return None
        now, capable, buses = self.has(_NOW), self.has(_CAPABLE), self.has(_BUSES)
        return BusPort(
            address=self.address,
            is_bridge=is_bridge,
            behind=(int(buses[1], 16), int(buses[2], 16)) if buses else None,
            speed=float(now[1]) if now else None,
            max_speed=float(capable[1]) if capable else None,
            lanes=(int(now[2]) or None) if now else None,
            max_lanes=int(capable[2]) if capable else None,
            redirects=self._redirects(),
        )

    def _redirects(self) -> tuple[str, ...] | None:
        controls = self.has(_CONTROLS)
        if controls is not None:
            return tuple(word for word in REDIRECTS.values() if f"{word}+" in controls[1].split())
        readable = self.has(_CAPABLE) and not any(_DENIED in line for line in self.body)
        return () if readable else None


PAGE = HostPage("lspci", lambda line: _HEAD.match(line) is not None, _read)
