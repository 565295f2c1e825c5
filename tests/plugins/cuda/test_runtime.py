from __future__ import annotations

from pathlib import Path

import pytest
import torch
from accelhal_cuda.runtime import CudaRuntime, open_runtime
from accelhal_cuda.spec import SPEC
from device_module import DeviceModule
from host_tree import HostTree

from accelhal.errors import BackendIncompatibleError, ErrorKind
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
    assert (found.vendor, found.integrated) == ("NVIDIA", False)


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


def test_everything_else_is_declared_too(runtime: CudaRuntime, module: DeviceModule) -> None:
    assert {"streams", "events", "memory_info"} <= runtime.capabilities(0).keys()
    assert "graphs" not in runtime.capabilities(0)
    module.CUDAGraph = type("CUDAGraph", (), {})
    module.graph = module.graph_pool_handle = object()
    assert runtime.capabilities(0)["graphs"] is Support.NATIVE
    assert isinstance(runtime.create_graph(0), module.CUDAGraph)


def test_a_rebound_torch_cuda_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    foreign = type("Stream", (), {"__module__": "othervendor.streams"})
    monkeypatch.setattr(torch.cuda, "Stream", foreign)
    with pytest.raises(BackendIncompatibleError, match="othervendor has bound"):
        open_runtime()


@pytest.mark.parametrize(("major", "native"), [(7, False), (8, True), (9, True)])
def test_arithmetic_is_listed_from_the_first_boards_that_have_it(
    runtime: CudaRuntime, module: DeviceModule, major: int, native: bool
) -> None:
    module.property_fields["major"] = major
    found = runtime.supported_dtypes(0)
    low = {torch.float16, torch.bfloat16} if native else {torch.float16}
    wide = {torch.float32, torch.float64, torch.complex64, torch.complex128}
    assert found.compute == wide | low
    assert found.autocast == low
    assert found.storage >= wide | {torch.float16, torch.bfloat16, torch.int64, torch.bool}


@pytest.mark.parametrize("missing", ["pci_domain_id", "pci_bus_id", "pci_device_id"])
def test_part_of_a_pci_address_is_none(
    runtime: CudaRuntime, module: DeviceModule, missing: str
) -> None:
    whole = {"pci_domain_id": 1, "pci_bus_id": 0xAB, "pci_device_id": 2}
    module.property_fields |= {name: n for name, n in whole.items() if name != missing}
    assert runtime.properties(0).pci is None
    module.property_fields |= whole
    assert runtime.properties(0).pci == "0001:ab:02.0"


def test_the_host_that_is_given_is_read(tmp_path: Path, module: DeviceModule) -> None:
    tree = HostTree(tmp_path).env(CUDA_VISIBLE_DEVICES="5,3", CUDA_DEVICE_ORDER="PCI_BUS_ID")
    runtime = CudaRuntime(tree.host)
    runtime.module = module
    assert runtime.locate(1).key == BoardKey("cuda", "visible-order", "3")


def test_errors_are_read_as_cuda_s(runtime: CudaRuntime) -> None:
    error = RuntimeError("CUDA error: an illegal memory access was encountered")
    assert runtime.classify_error(error) is ErrorKind.ILLEGAL_ACCESS
