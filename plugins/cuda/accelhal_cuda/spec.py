"""The cuda backend's description; reading it imports neither torch nor a driver library."""

from __future__ import annotations

from accelhal.host.library_search import LibraryFile
from accelhal.spi import BackendSpec, Runtime
from accelhal_cuda.location import locate_without_torch
from accelhal_cuda.opening import open_management
from accelhal_cuda.probe import DEVICE_NODES, PCI_VENDOR_ID, VISIBLE_DEVICES, probe


def _open_runtime() -> Runtime:
    from accelhal_cuda.runtime import open_runtime

    return open_runtime()


SPEC = BackendSpec(
    name="cuda",
    vendor="NVIDIA",
    api_version=(1, 1),
    priority=20,
    probe=probe,
    open_runtime=_open_runtime,
    open_management=open_management,
    driver_library=LibraryFile("libnvidia-ml.so.1"),
    locate=locate_without_torch,
    visible_devices=VISIBLE_DEVICES,
    device_nodes=DEVICE_NODES,
    distributed_backend="nccl",
    pci_vendor_ids=(PCI_VENDOR_ID,),
    extensions={
        "board_models": "accelhal_cuda.board_models:MODELS",
        "compatibility": "accelhal_cuda.compatibility:COMPATIBILITY",
        "doctor_facts": "accelhal_cuda.vendor_host:HOST",
        "doctor_rules": "accelhal_cuda.doctor_rules:RULES",
        "evidence_readers": "accelhal_cuda.evidence:READERS",
        "faults": "accelhal_cuda.faults:FAULTS",
        "operators": "accelhal_cuda.operators:SUPPORT",
    },
)
