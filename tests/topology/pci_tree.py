"""A PCI bus of one's own, as sysfs shows it: links into the tree of bridges."""

from __future__ import annotations

from pathlib import Path

from accelhal.facts import BoardInfo, BoardKey
from accelhal.host import Host


def pci_host(root: Path, functions: dict[str, tuple[str, int]]) -> Host:
    """A host whose functions lie where `functions` says: address -> (path below devices, node)."""
    bus = root / "sys/bus/pci/devices"
    bus.mkdir(parents=True)
    for address, (above, node) in functions.items():
        folder = root / "sys/devices" / above / address
        folder.mkdir(parents=True)
        (folder / "numa_node").write_text(f"{node}\n")
        (bus / address).symlink_to(f"../../../devices/{above}/{address}")
    return Host(root=root, environ={})


def board(address: str | None, name: str = "") -> BoardInfo:
    key = BoardKey("toy", "uuid", name or str(address))
    return BoardInfo(key, "Toy Works", "Toy", "toy", "toy library", pci=address)
