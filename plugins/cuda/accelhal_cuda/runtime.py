"""Runtime over torch.cuda: names as NVIDIA's driver and compiler write them, and TF32."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch

from accelhal.errors import BackendIncompatibleError, ErrorKind
from accelhal.facts import DeviceProperties, Location, SupportedDtypes
from accelhal.host import Host
from accelhal.runtimes.dtypes import COMMON_DTYPES, WIDE_DTYPES
from accelhal.runtimes.torch_module import TorchModuleRuntime
from accelhal.spi import Support
from accelhal_cuda import error_messages, float32_precision
from accelhal_cuda.location import driver_uuid, locate
from accelhal_cuda.rebinding import rebound_by

_BFLOAT16_MAJOR = 8
"""Compute capability from which boards multiply bfloat16: CUDA C++ Programming Guide, table
"Throughput of Native Arithmetic Instructions"."""


def open_runtime() -> CudaRuntime:
    """The runtime of this process's torch.

    Raises:
        BackendIncompatibleError: torch is not a CUDA build, or another vendor's migration shim has
            bound torch.cuda to its own boards.
    """
    if torch.version.cuda is None:
        raise BackendIncompatibleError(
            f"torch {torch.__version__} is not a CUDA build",
            backend="cuda",
            operation="open",
            hint="install a CUDA build: https://pytorch.org/get-started/locally",
        )
    shim = rebound_by(torch.cuda)
    if shim is not None:
        raise BackendIncompatibleError(
            f"{shim} has bound torch.cuda to boards of its own in this process",
            backend="cuda",
            operation="open",
            hint=f"use the backend of {shim}'s boards, or do not load its migration shim",
        )
    return CudaRuntime()


class CudaRuntime(TorchModuleRuntime):
    """torch.cuda."""

    def __init__(self, host: Host | None = None) -> None:
        super().__init__("cuda", "NVIDIA", graph_class="CUDAGraph")
        # is_available() has the driver read the variables, once; a later change shows nothing else.
        now = host or Host()
        self._host = replace(now, environ=dict(now.environ))

    def properties(self, index: int) -> DeviceProperties:
        found = self.module.get_device_properties(index)
        shared = super().properties(index)
        return replace(
            shared,
            arch=f"sm_{found.major}{found.minor}",
            uuid=driver_uuid(index, shared.name, shared.uuid, self._host),
            pci=_pci_address(found),
        )

    def capabilities(self, index: int) -> Mapping[str, Support]:
        return {**super().capabilities(index), "float32_precision": Support.NATIVE}

    def locate(self, index: int) -> Location:
        return locate(index, self.properties(index), self._host)

    def supported_dtypes(self, index: int) -> SupportedDtypes:
        # torch.cuda.is_bf16_supported() is True where bfloat16 is only emulated, and tries it out.
        compute = {torch.float32, torch.float16} | WIDE_DTYPES
        if self.module.get_device_properties(index).major >= _BFLOAT16_MAJOR:
            compute.add(torch.bfloat16)
        return SupportedDtypes(
            storage=COMMON_DTYPES | WIDE_DTYPES | {torch.bfloat16},
            compute=frozenset(compute),
            autocast=frozenset(compute & {torch.float16, torch.bfloat16}),
        )

    def get_float32_precision(self, index: int) -> str:
        return float32_precision.get_float32_precision()

    def set_float32_precision(self, index: int, precision: str) -> None:
        float32_precision.set_float32_precision(precision)

    def classify_error(self, error: BaseException) -> ErrorKind:
        return error_messages.classify(error)


def _pci_address(properties: object) -> str | None:
    """domain:bus:device.function, where torch reports it; a board is function 0."""
    names = ("pci_domain_id", "pci_bus_id", "pci_device_id")
    numbers = [getattr(properties, name, None) for name in names]
    if not all(isinstance(number, int) for number in numbers):
        return None
    domain, bus, device = numbers
    return f"{domain:04x}:{bus:02x}:{device:02x}.0"
