"""Runtime over torch.cuda: names as NVIDIA's driver and compiler write them, and TF32."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch

from accelhal.errors import BackendIncompatibleError
from accelhal.facts import DeviceProperties, SupportedDtypes
from accelhal.runtimes.dtypes import WIDE_DTYPES
from accelhal.runtimes.torch_module import TorchModuleRuntime
from accelhal.spi import Support
from accelhal_cuda import float32_precision


def open_runtime() -> CudaRuntime:
    """The runtime of this process's torch.

    Raises:
        BackendIncompatibleError: torch is not a CUDA build. Another vendor's compatibility shim
            may have bound torch.cuda to its own boards there.
    """
    if torch.version.cuda is None:
        raise BackendIncompatibleError(
            f"torch {torch.__version__} is not a CUDA build",
            backend="cuda",
            operation="open",
            hint="install a CUDA build: https://pytorch.org/get-started/locally",
        )
    return CudaRuntime()


class CudaRuntime(TorchModuleRuntime):
    """torch.cuda."""

    def __init__(self) -> None:
        super().__init__("cuda", "NVIDIA", graph_class="CUDAGraph")

    def properties(self, index: int) -> DeviceProperties:
        found = self.module.get_device_properties(index)
        shared = super().properties(index)
        return replace(
            shared,
            arch=f"sm_{found.major}{found.minor}",
            uuid=_driver_uuid(shared.uuid),
            pci=_pci_address(found),
        )

    def capabilities(self, index: int) -> Mapping[str, Support]:
        return {**super().capabilities(index), "float32_precision": Support.NATIVE}

    def supported_dtypes(self, index: int) -> SupportedDtypes:
        shared = super().supported_dtypes(index)
        # Every board holds bfloat16; old ones only lack arithmetic in it.
        return replace(
            shared,
            storage=shared.storage | WIDE_DTYPES | {torch.bfloat16},
            compute=shared.compute | WIDE_DTYPES,
        )

    def get_float32_precision(self, index: int) -> str:
        return float32_precision.get_float32_precision()

    def set_float32_precision(self, index: int, precision: str) -> None:
        float32_precision.set_float32_precision(precision)


def _driver_uuid(uuid: str | None) -> str | None:
    """The driver prefixes what torch reports bare."""
    return uuid if uuid is None or uuid.startswith(("GPU-", "MIG-")) else f"GPU-{uuid}"


def _pci_address(properties: object) -> str | None:
    """domain:bus:device.function, where torch reports it; a board is function 0."""
    names = ("pci_domain_id", "pci_bus_id", "pci_device_id")
    numbers = [getattr(properties, name, None) for name in names]
    if not all(isinstance(number, int) for number in numbers):
        return None
    domain, bus, device = numbers
    return f"{domain:04x}:{bus:02x}:{device:02x}.0"
