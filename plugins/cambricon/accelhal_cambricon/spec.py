"""The mlu backend's description; reading it imports neither torch nor torch_mlu."""

from __future__ import annotations

from accelhal.spi import BackendSpec, Runtime
from accelhal_cambricon.cndev_library import LIBRARY
from accelhal_cambricon.location import locate_without_torch
from accelhal_cambricon.opening import open_management
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
    api_version=(1, 1),
    priority=30,
    probe=probe,
    open_runtime=_open_runtime,
    open_management=open_management,
    driver_library=LIBRARY,
    locate=locate_without_torch,
    torch_package=TORCH_PACKAGE,
    needs_privateuse1=True,
    visible_devices=VISIBLE_DEVICES,
    device_nodes=DEVICE_NODES,
    distributed_backend="cncl",
    pci_vendor_ids=(PCI_VENDOR_ID,),
    extensions={
        "board_models": "accelhal_cambricon.board_models:MODELS",
        "compatibility": "accelhal_cambricon.compatibility:COMPATIBILITY",
        "doctor_facts": "accelhal_cambricon.vendor_host:HOST",
        "doctor_rules": "accelhal_cambricon.doctor_rules:RULES",
        "evidence_readers": "accelhal_cambricon.evidence:READERS",
        "faults": "accelhal_cambricon.faults:FAULTS",
    },
)
