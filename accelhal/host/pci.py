"""Accelerator boards on the PCI bus, by vendor id and class, read from sysfs."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from accelhal.host.host import Host

_DEVICES = "/sys/bus/pci/devices"


@dataclass(frozen=True)
class PciVendor:
    """A vendor of accelerators.

    Attributes:
        id: PCI vendor id.
        name: its name.
        classes: the PCI classes its boards carry.
        plugin: the distribution that drives them, or None where none is known.
    """

    id: str
    name: str
    classes: tuple[str, ...]
    plugin: str | None = None


@dataclass(frozen=True)
class PciDevice:
    """One function on the PCI bus; ids are four lower-case hexadecimal digits.

    Attributes:
        address: domain:bus:device.function.
        pci_class: base class and subclass ("0302").
        driver: kernel driver bound to it, or None.
        numa_node: None where the kernel says -1.
    """

    address: str
    vendor: str
    device: str
    pci_class: str
    driver: str | None
    numa_node: int | None


@cache
def vendors() -> dict[str, PciVendor]:
    """The known accelerator vendors, by PCI vendor id."""
    text = Path(__file__).with_name("pci_vendors.json").read_text("utf-8")
    return {
        key: PciVendor(key, row["name"], tuple(row["classes"]), row.get("plugin"))
        for key, row in json.loads(text)["vendors"].items()
    }


def scan(host: Host, vendor_ids: Collection[str] | None = None) -> list[PciDevice]:
    """The functions on the bus, by address, of the given vendors (of all when None).

    An unreadable one is left out. Servers have hundreds: name the vendors where they are known.
    """
    paths = host.glob(f"{_DEVICES}/*")
    return [device for path in paths if (device := _read(host, path, vendor_ids))]


def accelerators(host: Host, vendor_ids: Collection[str] | None = None) -> list[PciDevice]:
    """The functions on the bus that are accelerator boards of a known vendor, or of those named."""
    known = vendors()
    wanted = known.keys() if vendor_ids is None else known.keys() & set(vendor_ids)
    return [
        device for device in scan(host, wanted) if device.pci_class in known[device.vendor].classes
    ]


def _read(host: Host, path: str, vendor_ids: Collection[str] | None) -> PciDevice | None:
    vendor = _identifier(host.read_text(f"{path}/vendor"))
    if vendor is None or (vendor_ids is not None and vendor not in vendor_ids):
        return None
    device = _identifier(host.read_text(f"{path}/device"))
    pci_class = _hexadecimal(host.read_text(f"{path}/class"))
    if device is None or pci_class is None:
        return None
    node = (host.read_text(f"{path}/numa_node") or "").strip()
    return PciDevice(
        address=path.rsplit("/", 1)[1],
        vendor=vendor,
        device=device,
        pci_class=f"{pci_class >> 8:04x}",
        driver=host.link_name(f"{path}/driver"),
        numa_node=int(node) if node.isdecimal() else None,
    )


def _identifier(text: str | None) -> str | None:
    number = _hexadecimal(text)
    return None if number is None else f"{number:04x}"


def _hexadecimal(text: str | None) -> int | None:
    try:
        number = int(text or "", 16)
    except ValueError:
        return None
    return number if number >= 0 else None
