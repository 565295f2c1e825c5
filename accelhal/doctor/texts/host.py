"""What the doctor says of the host's bus and log."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.spi.doctor import Text

TEXTS: Mapping[str, Text] = {
    "pci.none": Text("no accelerator board on the PCI bus"),
    "pci.boards": Text("{count} x {vendor} on the PCI bus"),
    "pci.no_plugin": Text(
        "{count} x {vendor} on the PCI bus, and no plugin for it",
        "accelhal finds its backends in installed plugins; none of them drives this vendor.",
        "the plugin {plugin} is installed and loads",
    ),
    "pci.unsupported": Text("{count} x {vendor} on the PCI bus; accelhal has no plugin for it"),
    "pci.unreadable": Text("the PCI bus cannot be seen: {path} is not there"),
}
