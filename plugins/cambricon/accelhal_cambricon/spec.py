"""The mlu backend's description; reading it imports neither torch nor torch_mlu."""

from __future__ import annotations

from accelhal.spi import BackendSpec, Runtime
from accelhal_cambricon.probe import (
    DEVICE_NODES,
    PCI_VENDOR_ID,
    TORCH_PACKAGE,
    VISIBLE_DEVICES,
    probe,
)


def _open_runtime() -> Runtime:
    from accelhal_cambricon.runtime import CambriconRuntime

    return CambriconRuntime()


SPEC = BackendSpec(
    name="mlu",
    vendor="Cambricon",
    api_version=(1, 0),
    priority=30,
    probe=probe,
    open_runtime=_open_runtime,
    torch_package=TORCH_PACKAGE,
    needs_privateuse1=True,
    visible_devices=VISIBLE_DEVICES,
    device_nodes=DEVICE_NODES,
    distributed_backend="cncl",
    pci_vendor_ids=(PCI_VENDOR_ID,),
)
