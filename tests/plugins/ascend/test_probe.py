from __future__ import annotations

import platform
import shutil
from pathlib import Path

import pytest
from accelhal_ascend.probe import VISIBLE_DEVICES, probe
from host_tree import HostTree

from accelhal.facts import Probe, ProbeStatus

TOOLKIT = "/usr/local/Ascend/ascend-toolkit"


class AscendHost(HostTree):
    """Two chips beside a network card of the same vendor, and everything they need."""

    def boards(self) -> AscendHost:
        self.pci("0000:61:00.0", "19e5", "1200", device="d802", driver="devdrv_device_driver")
        self.pci("0000:81:00.0", "19e5", "1200", device="d802", driver="devdrv_device_driver")
        self.pci("0000:7d:00.0", "19e5", "0200", device="0222", driver="hns3")
        return self

    def nodes(self) -> AscendHost:
        self.files("/dev/davinci0", "/dev/davinci1", "/dev/davinci_manager")
        self.files("/dev/devmm_svm", "/dev/hisi_hdc")
        text = "Version=7.5.0\npackage_version=24.1.rc1\nascendhal_version=7.35.19\n"
        self.file("/usr/local/Ascend/driver/version.info", text)
        return self

    def torch(self, version: str = "2.13.0", **toolkits: str) -> AscendHost:
        self.package("torch", version, **toolkits)
        return self

    def torch_npu(self) -> AscendHost:
        self.package("torch_npu", "2.13.0")
        return self

    def cann(self) -> AscendHost:
        for part in ("lib64/libhccl.so", "opp/version.info", "runtime/x", "compiler/x"):
            self.file(f"{TOOLKIT}/latest/{part}")
        self.env(
            LD_LIBRARY_PATH=f"{TOOLKIT}/latest/lib64",
            ASCEND_HOME_PATH=f"{TOOLKIT}/latest",
            ASCEND_OPP_PATH=f"{TOOLKIT}/latest/opp",
        )
        return self

    def probe(self) -> Probe:
        return probe(self.host)


@pytest.fixture
def host(tmp_path: Path) -> AscendHost:
    return AscendHost(tmp_path)


@pytest.fixture
def whole(host: AscendHost) -> AscendHost:
    return host.boards().nodes().torch().torch_npu().cann()


def test_a_whole_host_is_available(whole: AscendHost) -> None:
    found = whole.probe()
    assert (found.status, found.count, found.hint) == (ProbeStatus.AVAILABLE, 2, "")
    assert found.evidence["torch_npu"].startswith("2.13.0 in ")


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("Version=7.5.0\npackage_version=26.0.rc1\n", "26.0.rc1"),
        ("Version=24.1.rc1\nascendhal_version=7.35.19\n", "24.1.rc1"),
        ("Version=24.1.rc1\npackage_version=\n", "24.1.rc1"),
    ],
)
def test_the_driver_s_version(whole: AscendHost, text: str, version: str) -> None:
    path = "/usr/local/Ascend/driver/version.info"
    whole.file(path, text)
    assert whole.probe().evidence[path] == version


def test_a_network_card_of_the_vendor_is_no_board(host: AscendHost) -> None:
    host.pci("0000:7d:00.0", "19e5", "0200", driver="hns3").torch()
    found = host.probe()
    assert (found.status, found.hint) == (ProbeStatus.NO_HARDWARE, "")


def test_a_stack_that_loads_counts_as_present_without_a_board_in_sight(host: AscendHost) -> None:
    """Containers and simulations show neither node nor PCI board: opening decides."""
    found = host.torch().torch_npu().cann().probe()
    assert (found.status, found.count) == (ProbeStatus.AVAILABLE, None)
    assert "opening decides" in found.reason


def test_a_stack_that_the_loader_does_not_find_needs_a_board(host: AscendHost) -> None:
    host.torch().torch_npu().file(f"{TOOLKIT}/latest/lib64/libhccl.so")
    assert host.probe().status is ProbeStatus.NO_HARDWARE


def test_cann_alone_lacks_torch_npu(host: AscendHost) -> None:
    found = host.torch("2.9.1+cpu").cann().probe()
    assert found.status is ProbeStatus.NOT_INSTALLED
    assert "torch_npu==2.9.*" in found.hint


@pytest.mark.parametrize(
    ("value", "status"), [("", ProbeStatus.HIDDEN_BY_ENV), ("0,1", ProbeStatus.AVAILABLE)]
)
def test_a_mask_counts_where_no_board_is_in_sight(
    host: AscendHost, value: str, status: ProbeStatus
) -> None:
    found = host.torch().torch_npu().cann().env(ASCEND_RT_VISIBLE_DEVICES=value).probe()
    assert found.status is status
    assert "ASCEND_RT_VISIBLE_DEVICES" in found.reason


def test_boards_without_driver(host: AscendHost) -> None:
    found = host.boards().probe()
    assert found.status is ProbeStatus.NO_DRIVER
    assert "npu-smi" in found.hint


def test_a_container_with_a_board_but_not_its_control_nodes(whole: AscendHost) -> None:
    (whole.root / "dev/hisi_hdc").unlink()
    whole.file("/.dockerenv")
    found = whole.probe()
    assert found.status is ProbeStatus.NO_DRIVER
    assert "/dev/hisi_hdc" in found.reason
    assert "--device /dev/davinci_manager" in found.hint


def test_torch_npu_is_missing(host: AscendHost) -> None:
    found = host.boards().nodes().torch("2.9.1+cpu").cann().probe()
    assert found.status is ProbeStatus.NOT_INSTALLED
    assert "torch_npu==2.9.*" in found.hint


def test_torch_is_missing(host: AscendHost) -> None:
    found = host.boards().nodes().cann().probe()
    assert found.status is ProbeStatus.NOT_INSTALLED
    assert "torch_npu" in found.hint


@pytest.mark.parametrize("with_board", [True, False])
def test_cann_is_nowhere(host: AscendHost, with_board: bool) -> None:
    """It breaks a plain `import torch`, so it matters on a laptop too."""
    host.torch().torch_npu()
    if with_board:
        host.boards().nodes()
    found = host.probe()
    assert found.status is ProbeStatus.LIBRARY_BROKEN
    assert "libhccl.so" in found.reason
    assert "CANN" in found.hint


@pytest.mark.parametrize(
    "path",
    [
        f"{TOOLKIT}/latest/lib64/libhccl.so",
        f"{TOOLKIT}/latest/{platform.machine()}-linux/lib64/libhccl.so",
        "/usr/local/Ascend/cann/lib64/libhccl.so",
        "/opt/own/lib64/libhccl.so",
    ],
)
def test_cann_whose_set_env_was_not_sourced_is_not_called_broken(
    host: AscendHost, path: str
) -> None:
    host.boards().nodes().torch().torch_npu().file(path).env(ASCEND_TOOLKIT_HOME="/opt/own")
    found = host.probe()
    assert found.status is ProbeStatus.AVAILABLE
    assert "set_env.sh" in found.hint


def test_the_set_env_that_exists_is_named(host: AscendHost) -> None:
    host.boards().nodes().torch().torch_npu().file(f"{TOOLKIT}/latest/lib64/libhccl.so")
    host.file(f"{TOOLKIT}/set_env.sh")
    assert host.probe().hint == f"source {TOOLKIT}/set_env.sh"


@pytest.mark.parametrize(
    ("environ", "word"),
    [
        ({"ASCEND_HOME_PATH": "/opt/gone"}, "/opt/gone does not exist"),
        ({"ASCEND_HOME_PATH": TOOLKIT}, "ASCEND_OPP_PATH is not"),
        ({"ASCEND_HOME_PATH": TOOLKIT, "ASCEND_OPP_PATH": "/opt/gone"}, "ASCEND_OPP_PATH=/opt"),
    ],
)
def test_half_installed_cann(host: AscendHost, environ: dict[str, str], word: str) -> None:
    host.boards().nodes().torch().torch_npu().cann()
    del host.environ["ASCEND_HOME_PATH"], host.environ["ASCEND_OPP_PATH"]
    host.env(**environ)
    found = host.probe()
    assert found.status is ProbeStatus.LIBRARY_BROKEN
    assert word in found.reason


@pytest.mark.parametrize("part", ["runtime", "compiler"])
def test_half_of_cann_s_folders(whole: AscendHost, part: str) -> None:
    shutil.rmtree(whole.root / f"{TOOLKIT}/latest/{part}".lstrip("/"))
    found = whole.probe()
    assert found.status is ProbeStatus.LIBRARY_BROKEN
    assert repr(part) in found.reason


@pytest.mark.parametrize("with_board", [True, False])
def test_a_cuda_build_of_torch_is_refused_by_torch_npu(host: AscendHost, with_board: bool) -> None:
    host.torch("2.13.0+cu130", cuda="13.0").torch_npu().cann()
    if with_board:
        host.boards().nodes()
    found = host.probe()
    assert found.status is ProbeStatus.INCOMPATIBLE
    assert "torch==2.13.0 " in found.hint
    assert "whl/cpu" in found.hint


def test_releases_without_that_check_are_not_refused(host: AscendHost) -> None:
    host.boards().nodes().torch("2.4.0", cuda="12.1").torch_npu().cann()
    assert host.probe().status is ProbeStatus.AVAILABLE


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("", "hides"),
        ("1,0", "out of order"),
        ("1,1", "twice"),
        ("4", "no device"),
        (" 0", "no device"),
    ],
)
def test_a_mask_that_leaves_nothing(whole: AscendHost, value: str, word: str) -> None:
    whole.env(ASCEND_RT_VISIBLE_DEVICES=value)
    found = whole.probe()
    assert (found.status, found.count) == (ProbeStatus.HIDDEN_BY_ENV, 0)
    assert word in found.reason


@pytest.mark.parametrize(
    ("value", "entries"),
    [
        ("0,1", ("0", "1")),
        ("0, 1", ("0",)),
        ("0,1x,2", ("0", "1")),
        ("0,,1", ("0",)),
        ("0,7", ("0",)),
        ("GPU-1", ()),
    ],
)
def test_the_mask_stops_at_any_other_character(value: str, entries: tuple[str, ...]) -> None:
    assert VISIBLE_DEVICES[0].parse(value, count=3).entries == entries
