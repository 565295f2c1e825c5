from __future__ import annotations

from pathlib import Path

import pytest
from accelhal_cambricon.probe import VISIBLE_DEVICES, probe
from host_tree import HostTree

from accelhal.facts import Probe, ProbeStatus

UUID = "33033011-2157-0000-0000-000000000000"
OTHER = "33033011-2157-0000-0000-000000000001"


class CambriconHost(HostTree):
    """Two boards and everything they need."""

    def boards(self) -> CambriconHost:
        self.pci("0000:39:00.0", "cabc", "1200", driver="cambricon-pci")
        self.pci("0000:3d:00.0", "cabc", "1200", driver="cambricon-pci")
        return self

    def nodes(self) -> CambriconHost:
        self.files("/dev/cambricon_dev0", "/dev/cambricon_dev1", "/dev/cambricon_ctl")
        text = "Device name: MLU370-X8\nDriver Version: v5.10.22\n"
        self.file("/proc/driver/cambricon/mlus/0000:39:00.0/information", text)
        return self

    def torch(self) -> CambriconHost:
        self.package("torch", "2.4.1+cpu")
        return self

    def torch_mlu(self) -> CambriconHost:
        self.package("torch_mlu", "1.25.0-torch2.4.1")
        return self

    def neuware(self) -> CambriconHost:
        self.file("/usr/local/neuware/lib64/libcnrt.so")
        self.env(LD_LIBRARY_PATH="/usr/local/neuware/lib64")
        return self

    def probe(self) -> Probe:
        return probe(self.host)


@pytest.fixture
def host(tmp_path: Path) -> CambriconHost:
    return CambriconHost(tmp_path)


@pytest.fixture
def whole(host: CambriconHost) -> CambriconHost:
    return host.boards().nodes().torch().torch_mlu().neuware()


def test_a_whole_host_is_available(whole: CambriconHost) -> None:
    found = whole.probe()
    assert (found.status, found.count, found.hint) == (ProbeStatus.AVAILABLE, 2, "")
    assert "v5.10.22" in found.evidence.values()


def test_no_board(host: CambriconHost) -> None:
    found = host.torch().probe()
    assert (found.status, found.count, found.hint) == (ProbeStatus.NO_HARDWARE, 0, "")


def test_boards_without_driver(host: CambriconHost) -> None:
    found = host.boards().probe()
    assert found.status is ProbeStatus.NO_DRIVER
    assert "cnmon" in found.hint


def test_a_container_that_was_not_given_the_boards(host: CambriconHost) -> None:
    host.boards().file("/run/.containerenv")
    found = host.probe()
    assert found.status is ProbeStatus.NO_DRIVER
    assert "--device /dev/cambricon_ctl" in found.hint


@pytest.mark.parametrize("package", [None, "torch"])
def test_a_missing_package(host: CambriconHost, package: str | None) -> None:
    host.boards().nodes().neuware()
    if package:
        host.torch()
    found = host.probe()
    assert found.status is ProbeStatus.NOT_INSTALLED
    assert "torch_mlu" in found.hint
    if package:
        assert "torch 2.4" in found.hint


@pytest.mark.parametrize("with_board", [True, False])
def test_neuware_is_nowhere(host: CambriconHost, with_board: bool) -> None:
    host.torch().torch_mlu()
    if with_board:
        host.boards().nodes()
    found = host.probe()
    assert found.status is ProbeStatus.LIBRARY_BROKEN
    assert "libcnrt.so" in found.reason
    assert "LD_LIBRARY_PATH" in found.hint


@pytest.mark.parametrize("home", ["/usr/local/neuware", "/opt/own"])
def test_neuware_beside_the_library_path(host: CambriconHost, home: str) -> None:
    host.boards().nodes().torch().torch_mlu().file(f"{home}/lib64/libcnrt.so")
    host.env(NEUWARE_HOME=home)
    found = host.probe()
    assert found.status is ProbeStatus.AVAILABLE
    assert f"{home}/lib64" in found.hint


def test_an_old_torch(host: CambriconHost) -> None:
    host.boards().nodes().package("torch", "2.1.0").package("torch_mlu", "1.25.0")
    assert host.probe().status is ProbeStatus.INCOMPATIBLE


@pytest.mark.parametrize(
    "variable", ["CN_VISIBLE_DEVICES", "MLU_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"]
)
def test_each_variable_hides(whole: CambriconHost, variable: str) -> None:
    whole.env(**{variable: "7"})
    found = whole.probe()
    assert found.status is ProbeStatus.HIDDEN_BY_ENV
    assert variable in found.hint


def test_the_first_variable_set_wins(whole: CambriconHost) -> None:
    whole.env(CN_VISIBLE_DEVICES="1", MLU_VISIBLE_DEVICES="", CUDA_VISIBLE_DEVICES="")
    assert (whole.probe().status, whole.probe().count) == (ProbeStatus.AVAILABLE, 1)
    whole.env(CN_VISIBLE_DEVICES="")
    assert whole.probe().status is ProbeStatus.HIDDEN_BY_ENV


@pytest.mark.parametrize(
    ("value", "entries"),
    [
        ("4, 3,two", ("4", "3")),
        ("1gpu2", ()),
        ("2,+3", ("2",)),
        ("0,-1,3", ("0",)),
        ("0,1,0", ()),
        (UUID, (UUID,)),
        (f"{UUID},{OTHER}", (UUID, OTHER)),
        (f"{UUID},{UUID}", ()),
        (f"{UUID},2", (UUID,)),
        # Long enough and with a dash, so it is read as UUIDs, of which "0" is none.
        ("0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,-1", ()),
    ],
)
def test_the_grammar(value: str, entries: tuple[str, ...]) -> None:
    assert VISIBLE_DEVICES[0].parse(value).entries == entries
