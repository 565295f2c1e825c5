from __future__ import annotations

import pytest
import torch
from accelhal_cuda.runtime import CudaRuntime, open_runtime
from accelhal_cuda.spec import SPEC
from device_module import DeviceModule

from accelhal.errors import BackendIncompatibleError
from accelhal.facts import BoardKey
from accelhal.spi import Support


@pytest.fixture
def module() -> DeviceModule:
    fields = {"major": 9, "minor": 0, "multi_processor_count": 132, "is_integrated": 0}
    return DeviceModule(property_fields=fields)


@pytest.fixture
def runtime(module: DeviceModule) -> CudaRuntime:
    runtime = CudaRuntime()
    runtime.module = module
    return runtime


@pytest.mark.skipif(torch.version.cuda is not None, reason="this torch is a CUDA build")
def test_a_cpu_build_is_refused_even_where_a_shim_rebinds_torch_cuda() -> None:
    with pytest.raises(BackendIncompatibleError, match="not a CUDA build"):
        SPEC.open_runtime()


def test_a_cuda_build_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    assert isinstance(open_runtime(), CudaRuntime)


@pytest.mark.parametrize(
    ("reported", "uuid"),
    [
        ("d9a0-11", "GPU-d9a0-11"),
        ("GPU-d9a0-11", "GPU-d9a0-11"),
        ("MIG-d9a0-11", "MIG-d9a0-11"),
        (None, None),
    ],
)
def test_the_uuid_is_spelled_as_the_driver_spells_it(
    runtime: CudaRuntime, module: DeviceModule, reported: str | None, uuid: str | None
) -> None:
    module.property_fields["uuid"] = reported
    assert runtime.properties(0).uuid == uuid
    key = runtime.locate(0).key
    assert key == (None if uuid is None else BoardKey("cuda", "uuid", uuid))


def test_the_architecture_is_the_compiler_s(runtime: CudaRuntime) -> None:
    found = runtime.properties(1)
    assert (found.arch, found.name, found.compute_units) == ("sm_90", "board 1", 132)


def test_the_pci_address_where_torch_reports_it(runtime: CudaRuntime, module: DeviceModule) -> None:
    assert runtime.properties(0).pci is None
    module.property_fields |= {"pci_domain_id": 1, "pci_bus_id": 0xAB, "pci_device_id": 0}
    assert runtime.properties(0).pci == "0001:ab:00.0"


def test_double_precision_is_native_and_bfloat16_always_stored(
    runtime: CudaRuntime, module: DeviceModule
) -> None:
    module.property_fields |= {"major": 7, "minor": 5}
    found = runtime.supported_dtypes(0)
    assert {torch.float64, torch.complex64} <= found.storage & found.compute
    assert torch.bfloat16 in found.storage - found.compute
    assert found.autocast == {torch.float16}


def test_float32_precision_is_declared(runtime: CudaRuntime) -> None:
    assert runtime.capabilities(0)["float32_precision"] is Support.NATIVE
