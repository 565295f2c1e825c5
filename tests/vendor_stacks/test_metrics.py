"""Each plugin reports the figures it names a source of, and no other, as docs/metrics.md says."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import metrics_document
import pynvml
import pytest
from accelhal_ascend import driver_library
from accelhal_ascend.management import DcmiManagement
from accelhal_cambricon import cndev_library
from accelhal_cambricon.cndev_health import SYSTEMS
from accelhal_cambricon.management import CndevManagement
from accelhal_cuda.management import NvmlManagement
from accelhal_mock import installation
from accelhal_mock.management import SimulatedManagement
from accelhal_mock.simulation.faults.catalogue import make_fault
from host_tree import HostTree
from metrics_document import reported
from vendor_stacks.dcmi.simulated import A3, A5
from vendor_stacks.simulated_library import SetScenario, build, scenario as scenario

from accelhal.spi import Management

PCIE_FOLDER = "/sys/bus/pci/devices/0000:10:00.0"


def test_the_document_is_the_plugins() -> None:
    text = metrics_document.DOCUMENT.read_text(encoding="utf-8")
    assert metrics_document.written(text) == text, "python tests/metrics_document.py"


def test_every_figure_is_in_the_document() -> None:
    text = metrics_document.DOCUMENT.read_text(encoding="utf-8")
    tables = set(re.findall(r"<!-- table: (\w+) -->", text))
    kinds = {kind.__name__ for kind in metrics_document.KINDS}
    assert tables == kinds | set(metrics_document.OTHERS)


@pytest.mark.parametrize("backend", metrics_document.BACKENDS)
def test_no_source_is_of_an_unknown_figure(backend: str) -> None:
    known = {f for kind in metrics_document.KINDS for f in metrics_document.figures_of(kind)}
    known |= {f for name in metrics_document.OTHERS for f in metrics_document.figures_named(name)}
    assert set(metrics_document.BACKENDS[backend]) - known == set()


def differences(management: Mapping[str, str], found: set[str]) -> dict[str, list[str]]:
    sources = set(management)
    return {
        "reported without a source": sorted(found - sources),
        "never reported": sorted(sources - found),
    }


NONE = {"reported without a source": [], "never reported": []}


@pytest.fixture
def nvml(
    tmp_path: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch
) -> Iterator[NvmlManagement]:
    library = build("nvml/nvml.c", "libnvidia-ml.so.1", tmp_path)
    monkeypatch.setattr(pynvml, "nvmlLib", ctypes.CDLL(str(library)))
    monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer_cache", {})
    management = NvmlManagement()
    yield management
    management.close()


def test_nvml(nvml: NvmlManagement, scenario: SetScenario) -> None:
    scenario(
        "boards 2\nset * field_82 70\nset * field_230 0\nset * links 2\nset * link_0_peer 1\n"
        "set * processes 1\nset 0 serial 1650522003820\nset 0 fabric 3\nset 0 mig 0\n"
        "set 1 mig 1\nset 1 slices 1\n"
    )
    assert differences(nvml.sources, reported(nvml)) == NONE


def test_dcmi(tmp_path: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the families that differ in what they have."""
    library = build("dcmi/dcmi.c", "libdcmi.so", tmp_path)
    monkeypatch.setenv(driver_library.LIBRARY.variable, str(library))
    tree = HostTree(tmp_path)
    tree.pci("0000:10:00.0", "19e5", "1200", numa_node=1, driver="devdrv_device_driver")
    for name, value in (("speed", "16.0 GT/s PCIe"), ("width", "16")):
        tree.file(f"{PCIE_FOLDER}/current_link_{name}", value)
        tree.file(f"{PCIE_FOLDER}/max_link_{name}", value)
    whole = (
        "boards 2\nset * serial 2102314NMV10P6100012\nset * model Atlas\nset * processes 1\n"
        "set * physical 5\nset * slowdown 100\nset * shutdown 130\nset * super_pod 3\n"
        "set * server 2\nset 1 vnpus 1\nset * next_double 1\nset * faults 1\n"
        "set 0 topology_1 1\n"
    )
    found: set[str] = set()
    for family in ("", A3, A5, "fail 1 dcmi_get_device_health -8012\n"):
        scenario(whole + family)
        found |= reported(DcmiManagement(tree.host))
    assert differences(DcmiManagement.sources, found) == NONE


def test_cndev(tmp_path: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch) -> None:
    library = build("cndev/cndev.c", "libcndev.so", tmp_path)
    monkeypatch.setenv(cndev_library.LIBRARY.variable, str(library))
    whole = (
        "boards 2\nset * serial 0x1a2b3c\nset * part 3GU1-01\nset * processes 1\n"
        "set * peer_0 1\nset 0 mim 1\nset 0 mims 1\nset 1 smlu 1\nset 1 smlus 1\n"
        "set * relation 3\nset * rows 3\nset * retire_pending 1\n"
    )
    found: set[str] = set()
    incidents = [f"set * incidents 1\nset * incident_system {system}\n" for system in (*SYSTEMS, 3)]
    for more in ("fail 1 cndevGetCardHealthStateV2 17\n", *incidents):
        scenario(whole + more)
        found |= reported(CndevManagement())
    assert differences(CndevManagement.sources, found) == NONE


def test_the_simulation() -> None:
    with installation.preserved():
        machine = installation.install(count=2, memory="1GiB", mode="plain").machine
        machine.board(0).cut("1g.10gb")
        machine.board(0).memory.others[4242] = 1 << 20
        management: Management = SimulatedManagement()
        found = reported(management)
        board = machine.board(1)
        board.inject(make_fault("hang"))
        board.default_stream.launch("kernel", 1.0)
        found |= reported(management)
        assert differences(management.sources, found) == NONE
