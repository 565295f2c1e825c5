"""Properties of a simulated board, in the fields that torch declares."""

from __future__ import annotations

from types import SimpleNamespace

from vendor_stacks.cuda import boards
from vendor_stacks.cuda.settings import settings


class DeviceProperties(SimpleNamespace):
    """torch._C._CudaDeviceProperties: fields alone, some absent in older releases."""


def make_properties(device: int) -> DeviceProperties:
    """torch.cuda._get_device_properties, which a CUDA build's initialization puts there."""
    board = boards.board(device)
    profile = board.profile
    digits = (profile.arch or "").removeprefix("sm_")
    fields = {
        "name": profile.product,
        "major": int(digits[:-1]),
        "minor": int(digits[-1]),
        "multi_processor_count": profile.compute_units,
        "total_memory": board.memory.capacity,
        "is_integrated": 0,
        "is_multi_gpu_board": 0,
        "warp_size": 32,
        "uuid": board.uuid,
    }
    told = settings()
    if told.reports_pci:
        bus = int(board.pci.split(":")[1], 16)
        fields |= {"pci_domain_id": 0, "pci_bus_id": bus, "pci_device_id": 0}
    for missing in told.missing_properties:
        del fields[missing]
    return DeviceProperties(**fields)
