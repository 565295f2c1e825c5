"""The boards of the host: from each driver library, and for the rest from the PCI bus."""

from __future__ import annotations

from dataclasses import replace

from accelhal.facts import BoardInfo, BoardKey, ProbeStatus
from accelhal.host import Host, pci
from accelhal.management.planes import open_management
from accelhal.registry import Backend, backends, is_open


def boards() -> list[BoardInfo]:
    """Every accelerator board of the host, whether or not this process may use it.

    Simulated boards are listed once their backend is in use.
    """
    return list_boards(backends(), Host())


def list_boards(known: list[Backend], host: Host) -> list[BoardInfo]:
    """The boards that the backends' driver libraries list, and behind them the others on the bus.

    What the kernel alone knows of a board (its driver, its NUMA node) is taken from the bus.
    """
    on_bus = {board.pci: board for board in pci_boards(known, host)}
    managed = [board for backend in known for board in _managed(backend)]
    listed = {board.pci for board in managed}
    rest = [board for address, board in on_bus.items() if address not in listed]
    return [_completed(board, on_bus.get(board.pci)) for board in managed] + rest


def _completed(board: BoardInfo, on_bus: BoardInfo | None) -> BoardInfo:
    if on_bus is None:
        return board
    node = on_bus.numa_node if board.numa_node is None else board.numa_node
    return replace(board, driver=board.driver or on_bus.driver, numa_node=node)


def pci_boards(known: list[Backend], host: Host) -> list[BoardInfo]:
    """The accelerator boards on the PCI bus, each with the backend that drives its vendor's."""
    drivers = {
        vendor_id: backend.name
        for backend in reversed(known)
        if backend.spec is not None
        for vendor_id in backend.spec.pci_vendor_ids
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


def _managed(backend: Backend) -> list[BoardInfo]:
    spec = backend.spec
    if spec is None or spec.open_management is None:
        return []
    if backend.probe.status is ProbeStatus.DISABLED:
        return []
    if spec.simulated and not is_open(spec.name):
        return []
    try:
        found = open_management(spec).boards()
        return [board for board in found if isinstance(board, BoardInfo)]
    except Exception:  # a driver library and its wrapper raise what they like
        # The PCI bus still shows the boards; why the library failed is the doctor's to say.
        return []
