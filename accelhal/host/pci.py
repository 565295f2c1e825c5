"""Accelerator boards on the PCI bus, by vendor id and class, read from sysfs."""

from __future__ import annotations

import json
import pkgutil
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache

from accelhal.host.host import Host

BUS = "/sys/bus/pci/devices"
"""The kernel's list of the functions on the bus, a folder for each."""


@dataclass(frozen=True)
class PciVendor:
    """A vendor of accelerators.

    Attributes:
        id: PCI vendor id.
        name: its name.
        country: ISO 3166 code of its seat.
        classes: the PCI classes its boards carry.
        plugin: the distribution that drives them, or None where none is known.
    """

    id: str
    name: str
    country: str
    classes: tuple[str, ...]
    plugin: str | None = None


@dataclass(frozen=True)
class PciDevice:
    """One function on the PCI bus; ids are four lower-case hexadecimal digits.

    Attributes:
        address: domain:bus:device.function.
        pci_class: base class and subclass ("0302").
        driver: kernel driver bound to it, or None.
        driver_shown: whether drivers were looked for; always so on a live host.
        numa_node: None where the kernel says -1.
    """

    address: str
    vendor: str
    device: str
    pci_class: str
    driver: str | None
    numa_node: int | None
    driver_shown: bool = True


@cache
def vendors() -> dict[str, PciVendor]:
    """The known accelerator vendors, by PCI vendor id."""
    text = pkgutil.get_data(__name__, "pci_vendors.json") or b"{}"  # from a zip file too
    return {
        key: PciVendor(key, row["name"], row["country"], tuple(row["classes"]), row.get("plugin"))
        for key, row in json.loads(text)["vendors"].items()
    }


def vendor_of(vendor_id: str) -> PciVendor:
    """The vendor with a PCI vendor id; one that is not known here is called by the id.

    A newer accelhal's snapshot may have more vendors.
    """
    return vendors().get(vendor_id) or PciVendor(vendor_id, vendor_id, "", ())


def scan(host: Host, vendor_ids: Collection[str] | None = None) -> list[PciDevice]:
    """The functions on the bus, by address, of the given vendors (of all when None).

    An unreadable one is left out. Servers have hundreds: name the vendors where they are known.
    """
    return _scan(host, None if vendor_ids is None else dict.fromkeys(vendor_ids))


def accelerators(host: Host, vendor_ids: Collection[str] | None = None) -> list[PciDevice]:
    """The functions on the bus that are accelerator boards of a known vendor, or of those named."""
    known = vendors()
    wanted = known.keys() if vendor_ids is None else known.keys() & set(vendor_ids)
    return _scan(host, {vendor_id: known[vendor_id].classes for vendor_id in wanted})


def numa_node(host: Host, address: str) -> int | None:
    """The NUMA node of a function; None where the kernel knows none (-1)."""
    return _numa_node(host, f"{BUS}/{address}")


_Wanted = Mapping[str, Collection[str] | None]
"""Vendor id -> the classes wanted of it, None for all."""


def _scan(host: Host, wanted: _Wanted | None) -> list[PciDevice]:
    paths = host.glob(f"{BUS}/*")
    return [device for path in paths if (device := _read(host, path, wanted))]


def _read(host: Host, path: str, wanted: _Wanted | None) -> PciDevice | None:
    vendor = _identifier(host.read_text(f"{path}/vendor"))
    if vendor is None or (wanted is not None and vendor not in wanted):
        return None
    number = _hexadecimal(host.read_text(f"{path}/class"))
    pci_class = None if number is None else f"{number >> 8:04x}"
    classes = None if wanted is None else wanted[vendor]
    if pci_class is None or (classes is not None and pci_class not in classes):
        return None
    device = _identifier(host.read_text(f"{path}/device"))
    if device is None:
        return None
    return PciDevice(
        address=path.rsplit("/", 1)[1],
        vendor=vendor,
        device=device,
        pci_class=pci_class,
        driver=host.link_name(f"{path}/driver"),
        numa_node=_numa_node(host, path),
    )


def _numa_node(host: Host, path: str) -> int | None:
    node = re.fullmatch(r"\d{1,5}", (host.read_text(f"{path}/numa_node") or "").strip())
    return int(node[0]) if node else None


def _identifier(text: str | None) -> str | None:
    number = _hexadecimal(text)
    return None if number is None else f"{number:04x}"


def _hexadecimal(text: str | None) -> int | None:
    try:
        number = int(text or "", 16)
    except ValueError:
        return None
    return number if number >= 0 else None
