"""The npu backend's description; reading it imports neither torch nor torch_npu."""

from __future__ import annotations

from accelhal.spi import BackendSpec, Runtime
from accelhal_ascend.driver_library import LIBRARY
from accelhal_ascend.location import locate_without_torch
from accelhal_ascend.opening import open_management
from accelhal_ascend.probe import (
    DEVICE_NODES,
    PCI_VENDOR_ID,
    TORCH_PACKAGE,
    VISIBLE_DEVICES,
    probe,
)


def _open_runtime() -> Runtime:
    from accelhal_ascend.runtime import AscendRuntime

    return AscendRuntime()


SPEC = BackendSpec(
    name="npu",
    vendor="Huawei",
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
    distributed_backend="hccl",
    pci_vendor_ids=(PCI_VENDOR_ID,),
    extensions={
        "board_models": "accelhal_ascend.board_models:MODELS",
        "compatibility": "accelhal_ascend.compatibility:COMPATIBILITY",
        "doctor_facts": "accelhal_ascend.vendor_host:HOST",
        "doctor_rules": "accelhal_ascend.doctor_rules:RULES",
        "evidence_readers": "accelhal_ascend.evidence:READERS",
        "faults": "accelhal_ascend.faults:FAULTS",
        "operators": "accelhal_ascend.operators:SUPPORT",
    },
)
