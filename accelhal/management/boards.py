"""The boards of the host: from each driver library, and for the rest from the PCI bus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from accelhal.errors import UsageError
from accelhal.facts import BoardInfo, BoardKey, ProbeStatus
from accelhal.host import Host, pci
from accelhal.management.planes import open_management
from accelhal.registry import Backend, backends, is_open
from accelhal.registry.choosing import named_device
from accelhal.spi import BackendSpec


def boards() -> list[BoardInfo]:
    """Every accelerator board of the host, whether or not this process may use it.

    Simulated boards are listed once their backend is in use, or where ACCELHAL_DEVICE names it.
    """
    return list_boards(backends(), Host())


def list_boards(known: list[Backend], host: Host) -> list[BoardInfo]:
    """The boards that the backends' driver libraries list, and behind them the others on the bus.

    What the kernel alone knows of a board (its driver, its NUMA node) is taken from the bus.
    """
    on_bus = pci_boards(known, host)
    managed = [board for spec in managed_specs(known) for board in _listed(spec)]
    listed = {board.pci for board in managed}
    rest = [board for board in on_bus if board.pci not in listed]
    return completed(managed, on_bus) + rest


def completed(boards: Sequence[BoardInfo], on_bus: Sequence[BoardInfo]) -> list[BoardInfo]:
    """The boards of a driver, with what the kernel alone knows of them."""
    seen = {board.pci: board for board in on_bus}
    return [_completed(board, seen.get(board.pci)) for board in boards]


def _completed(board: BoardInfo, on_bus: BoardInfo | None) -> BoardInfo:
    if on_bus is None:
        return board
    node = on_bus.numa_node if board.numa_node is None else board.numa_node
    return replace(board, driver=board.driver or on_bus.driver, numa_node=node)


def pci_boards(known: list[Backend], host: Host) -> list[BoardInfo]:
    """The accelerator boards on the PCI bus, each with the backend that drives its vendor's."""
    return boards_on_bus([backend.spec for backend in known if backend.spec is not None], host)


def boards_on_bus(specs: Sequence[BackendSpec], host: Host) -> list[BoardInfo]:
    """The same of backends that are described: the first that claims a vendor drives it."""
    drivers = {
        vendor_id: spec.name for spec in reversed(specs) for vendor_id in spec.pci_vendor_ids
    }
    names = pci.vendors()
    return [_board(device, names, drivers) for device in pci.accelerators(host)]


def _board(
    device: pci.PciDevice, names: dict[str, pci.PciVendor], drivers: dict[str, str]
) -> BoardInfo:
    backend = drivers.get(device.vendor)
    return BoardInfo(
        key=BoardKey(backend, "pci", device.address) if backend else None,
        vendor=names[device.vendor].name,
        name=f"PCI device {device.vendor}:{device.device}",
        backend=backend,
        source="pci",
        pci=device.address,
        numa_node=device.numa_node,
        driver=device.driver,
    )


def driver_boards(spec: BackendSpec) -> list[BoardInfo]:
    """The boards that the backend's driver library lists; raises what that raises."""
    found = open_management(spec).boards()
    return [board for board in found if isinstance(board, BoardInfo)]


def managed_specs(known: Sequence[Backend]) -> list[BackendSpec]:
    """The backends whose driver libraries are read; simulated ones once in use, or named for it."""
    named = _named_backend()
    return [
        backend.spec
        for backend in known
        if backend.spec is not None
        and backend.spec.open_management is not None
        and backend.probe.status is not ProbeStatus.DISABLED
        and (not backend.spec.simulated or is_open(backend.name) or backend.name == named)
    ]


def _named_backend() -> str | None:
    """The backend that ACCELHAL_DEVICE names."""
    try:
        name = named_device()
    except UsageError:
        return None  # told where a device is chosen
    return None if name is None else name.backend


def _listed(spec: BackendSpec) -> list[BoardInfo]:
    try:
        return driver_boards(spec)
    except Exception:  # a driver library and its wrapper raise what they like
        # The PCI bus still shows the boards; why the library failed is the doctor's to say.
        return []
