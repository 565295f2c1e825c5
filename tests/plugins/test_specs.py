"""What must hold of every vendor's spec, whatever its vendor."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from accelhal_ascend.spec import SPEC as ASCEND
from accelhal_cambricon.spec import SPEC as CAMBRICON
from accelhal_cuda.spec import SPEC as CUDA
from host_tree import HostTree
from hypothesis import HealthCheck, given, settings, strategies as st

from accelhal.facts import ProbeStatus
from accelhal.host import pci
from accelhal.registry.plugins import check_spec
from accelhal.spi import API_VERSION, BackendSpec

SPECS = (CUDA, ASCEND, CAMBRICON)

every_spec = pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)


@every_spec
def test_the_registry_accepts_it(spec: BackendSpec) -> None:
    check_spec(spec, spec.name, "here")
    assert spec.api_version <= API_VERSION
    assert not spec.simulated


def test_shims_that_rebind_torch_cuda_are_asked_first() -> None:
    assert CUDA.priority < min(ASCEND.priority, CAMBRICON.priority)
    assert CUDA.priority > 0


@every_spec
def test_its_boards_are_in_the_pci_table(spec: BackendSpec) -> None:
    for vendor_id in spec.pci_vendor_ids:
        assert pci.vendors()[vendor_id].name == spec.vendor


@every_spec
def test_one_pattern_counts_boards(spec: BackendSpec) -> None:
    assert [nodes.per_board for nodes in spec.device_nodes].count(True) == 1


def host_of_every_vendor(folder: Path) -> HostTree:
    """A board of each with its nodes and libraries."""
    tree = HostTree(folder)
    tree.pci("0000:01:00.0", "10de", "0302").pci("0000:02:00.0", "19e5", "1200")
    tree.pci("0000:03:00.0", "cabc", "1200")
    tree.files("/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", "/usr/lib/libcuda.so.1")
    tree.files("/dev/davinci0", "/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")
    tree.files("/dev/cambricon_dev0", "/dev/cambricon_ctl")
    return tree.files("/usr/lib/libhccl.so", "/usr/lib/libcnrt.so")


VARIABLES = (
    "CUDA_VISIBLE_DEVICES",
    "ASCEND_RT_VISIBLE_DEVICES",
    "CN_VISIBLE_DEVICES",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "ASCEND_HOME_PATH",
    "ASCEND_OPP_PATH",
    "NEUWARE_HOME",
)
any_value = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


@every_spec
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    environ=st.dictionaries(st.sampled_from(VARIABLES), any_value),
    torch=st.none() | st.sampled_from(["2.13.0", "2.1.0", "nonsense"]),
    missing=st.sets(st.sampled_from(["dev", "usr", "sys"])),
)
def test_no_environment_and_no_missing_file_makes_a_probe_raise(
    tmp_path_factory: pytest.TempPathFactory,
    spec: BackendSpec,
    environ: dict[str, str],
    torch: str | None,
    missing: set[str],
) -> None:
    tree = host_of_every_vendor(tmp_path_factory.mktemp("host")).env(**environ)
    if torch is not None:
        tree.package("torch", torch, cuda="13.0")
        tree.package("torch_npu", torch).package("torch_mlu", torch)
    for folder in missing:
        shutil.rmtree(tree.root / folder)
    probe = spec.probe(tree.host)
    assert probe.reason
    if probe.status is ProbeStatus.AVAILABLE:
        assert probe.count != 0
    elif probe.status is not ProbeStatus.NO_HARDWARE:
        assert probe.hint, "every no but absent hardware has a next step"


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("accelhal_cuda", "pynvml"),
        ("accelhal_ascend", "torch_npu"),
        ("accelhal_cambricon", "torch_mlu"),
    ],
)
def test_neither_spec_nor_probe_imports_torch_or_the_vendor(
    tmp_path: Path, module: str, package: str
) -> None:
    """On a host with boards, nodes and packages, so that the probe goes all the way."""
    (tmp_path / f"{package}.py").write_text("raise SystemExit('imported')")
    tree = host_of_every_vendor(tmp_path)
    code = f"""
import sys
from pathlib import Path
from accelhal.host import Host
from accelhal.host.host import find_installed_package
from {module}.spec import SPEC
probe = SPEC.probe(Host(Path({str(tree.root)!r}), {{}}, find_installed_package))
loaded = {{name.partition('.')[0] for name in sys.modules}}
print(probe.status.value, sorted(loaded & {{'torch', 'numpy', {package!r}}}))
"""
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
    )
    status, _, loaded = result.stdout.strip().partition(" ")
    assert loaded == "[]", result.stdout + result.stderr
    # A CPU build of torch stands beside the NVIDIA board.
    assert status in ("available", "incompatible"), result.stdout
