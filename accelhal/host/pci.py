"""Accelerator boards on the PCI bus, by vendor id and class, read from sysfs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

from accelhal.host.host import Host

_DEVICES = "/sys/bus/pci/devices"


@dataclass(frozen=True)
class PciVendor:
    """A vendor of accelerators: its id, its name, the PCI classes its boards carry."""

    id: str
    name: str
    classes: tuple[str, ...]


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
    text = resources.files("accelhal.host").joinpath("pci_vendors.json").read_text("utf-8")
    return {
        key: PciVendor(key, row["name"], tuple(row["classes"]))
        for key, row in json.loads(text)["vendors"].items()
    }


def scan(host: Host) -> list[PciDevice]:
    """Every function on the bus that sysfs describes, by address; an unreadable one is left out."""
    return [device for path in host.glob(f"{_DEVICES}/*") if (device := _read(host, path))]


def accelerators(host: Host) -> list[PciDevice]:
    """The functions on the bus that are accelerator boards of a known vendor."""
    known = vendors()
    return [
        device
        for device in scan(host)
        if device.vendor in known and device.pci_class in known[device.vendor].classes
    ]


def _read(host: Host, path: str) -> PciDevice | None:
    vendor, device, pci_class = (
        _hexadecimal(host.read_text(f"{path}/{name}")) for name in ("vendor", "device", "class")
    )
    if vendor is None or device is None or pci_class is None:
        return None
    node = (host.read_text(f"{path}/numa_node") or "").strip()
    return PciDevice(
        address=path.rsplit("/", 1)[1],
        vendor=f"{vendor:04x}",
        device=f"{device:04x}",
        pci_class=f"{pci_class >> 8:04x}",
        driver=host.link_name(f"{path}/driver"),
        numa_node=int(node) if node.isdecimal() else None,
    )


def _hexadecimal(text: str | None) -> int | None:
    try:
        return int(text or "", 16)
    except ValueError:
        return None
