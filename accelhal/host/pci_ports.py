"""Links and access controls of PCI functions, from their files and registers in sysfs."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator

from accelhal.facts.host_record import BusPort
from accelhal.host.host import Host
from accelhal.host.pci import BUS

_HOST_BRIDGE = re.compile(r"pci[0-9a-f]{4,8}:[0-9a-f]{2}")
_SPEED = re.compile(r"([0-9]{1,3}(?:\.[0-9])?) GT/s")

_BRIDGE = 0x01
"""Header type of a bridge (PCI Local Bus Specification 3.0, 6.1)."""

_FIRST_EXTENDED = 0x100
_ACS = 0x000D
"""Number of the capability Access Control Services (PCI Express Base Specification, 7.7.11)."""

_MOST_CAPABILITIES = 48
"""A chain of more runs in a circle: 4096 bytes hold few of them."""

REDIRECTS = {0x04: "ReqRedir", 0x08: "CmpltRedir", 0x10: "UpstreamFwd"}
"""Bits of the ACS control register that send traffic between boards up to the root -> lspci's
words."""


def path_above(host: Host, address: str) -> tuple[str, list[str]] | None:
    """The host bridge above a function, and the bridges between them, from the top."""
    target = host.link_target(f"{BUS}/{address}")
    parts = target.split("/") if target else []
    for position, part in enumerate(parts):
        if _HOST_BRIDGE.fullmatch(part):
            return part, parts[position + 1 : -1]
    return None


def read_ports(host: Host, boards: Iterable[str]) -> tuple[BusPort, ...]:
    """The boards at these addresses, and every bridge above them; each once, from the top."""
    addresses: dict[str, None] = {}
    for board in boards:
        path = path_above(host, board)
        addresses |= dict.fromkeys([*(path[1] if path else ()), board])
    return tuple(_port(host, address) for address in addresses)


def iommu_domains(host: Host, boards: Iterable[str]) -> dict[str, str]:
    """PCI address -> kind of its IOMMU domain; boards outside of any are left out."""
    found = {}
    for board in boards:
        group = host.link_name(f"{BUS}/{board}/iommu_group")
        if group is not None:
            kind = host.read_text(f"/sys/kernel/iommu_groups/{group}/type")
            found[board] = (kind or "").strip()
    return found


def _port(host: Host, address: str) -> BusPort:
    folder = f"{BUS}/{address}"
    registers = _registers(host, f"{folder}/config")
    is_bridge = len(registers) > 0x0E and registers[0x0E] & 0x7F == _BRIDGE
    return BusPort(
        address=address,
        is_bridge=is_bridge,
        behind=(registers[0x19], registers[0x1A]) if is_bridge else None,
        speed=_speed(host.read_text(f"{folder}/current_link_speed")),
        max_speed=_speed(host.read_text(f"{folder}/max_link_speed")),
        lanes=_lanes(host.read_text(f"{folder}/current_link_width")),
        max_lanes=_lanes(host.read_text(f"{folder}/max_link_width")),
        redirects=_redirects(registers),
    )


def _registers(host: Host, path: str) -> bytes:
    """The configuration space; who is not root gets its first 64 bytes."""
    try:
        return host.path(path).read_bytes()[:4096]
    except OSError:
        return b""


def _redirects(registers: bytes) -> tuple[str, ...] | None:
    """The controls that are on; None where the registers may not be read."""
    if len(registers) <= _FIRST_EXTENDED:
        return None
    for place, number in _extended_capabilities(registers):
        if number == _ACS and place + 8 <= len(registers):
            (control,) = struct.unpack_from("<H", registers, place + 6)
            return tuple(word for bit, word in REDIRECTS.items() if control & bit)
    return ()


def _extended_capabilities(registers: bytes) -> Iterator[tuple[int, int]]:
    place = _FIRST_EXTENDED
    for _ in range(_MOST_CAPABILITIES):
        if place < _FIRST_EXTENDED or place + 4 > len(registers):
            return
        (header,) = struct.unpack_from("<I", registers, place)
        yield place, header & 0xFFFF
        place = header >> 20


def _speed(text: str | None) -> float | None:
    found = _SPEED.match(text or "")
    return float(found[1]) if found else None


def _lanes(text: str | None) -> int | None:
    lanes = (text or "").strip()
    return int(lanes) if lanes.isdecimal() and len(lanes) < 4 and int(lanes) else None
