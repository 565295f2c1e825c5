from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

import pytest
import torch.cuda
from accelhal_cuda.probe import VISIBLE_DEVICES, probe
from host_tree import HostTree
from hypothesis import given, strategies as st

from accelhal.facts import Probe, ProbeStatus

PROC_VERSION = """\
NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb  1 00:00:00 UTC 2024
GCC version:  gcc version 12.3.0
"""


class NvidiaHost(HostTree):
    """Two boards, one with its audio function, and everything they need."""

    def boards(self, driver: str | None = "nvidia") -> NvidiaHost:
        self.pci("0000:17:00.0", "10de", "0302", driver=driver)
        self.pci("0000:65:00.0", "10de", "0300", driver=driver)
        self.pci("0000:65:00.1", "10de", "0403", driver="snd_hda_intel")
        return self

    def module(self) -> NvidiaHost:
        self.file("/proc/driver/nvidia/version", PROC_VERSION)
        return self

    def nodes(self) -> NvidiaHost:
        self.files("/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia-uvm")
        return self

    def user_libraries(self) -> NvidiaHost:
        self.file("/usr/lib/x86_64-linux-gnu/libcuda.so.1")
        return self

    def torch(self, version: str = "2.13.0", cuda: str | None = "13.0") -> NvidiaHost:
        self.package("torch", version, cuda=cuda, hip=None, xpu=None)
        return self

    def probe(self) -> Probe:
        return probe(self.host)


@pytest.fixture
def host(tmp_path: Path) -> NvidiaHost:
    return NvidiaHost(tmp_path)


@pytest.fixture
def whole(host: NvidiaHost) -> NvidiaHost:
    return host.boards().module().nodes().user_libraries().torch()


def test_a_whole_host_is_available(whole: NvidiaHost) -> None:
    found = whole.probe()
    assert (found.status, found.count, found.hint) == (ProbeStatus.AVAILABLE, 2, "")
    assert found.evidence["/proc/driver/nvidia/version"] == "550.54.14"
    assert "0000:65:00.1" not in found.evidence["/sys/bus/pci/devices"]


def test_the_open_driver_s_version_line_reads_too(whole: NvidiaHost) -> None:
    text = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\n"
    whole.file("/proc/driver/nvidia/version", text)
    assert whole.probe().evidence["/proc/driver/nvidia/version"] == "580.65.06"


def test_a_laptop_without_a_board_is_calm(host: NvidiaHost) -> None:
    host.pci("0000:00:02.0", "8086", "0300").torch("2.13.0+cpu", cuda=None)
    found = host.probe()
    assert (found.status, found.count, found.hint) == (ProbeStatus.NO_HARDWARE, 0, "")


def test_a_board_without_driver(host: NvidiaHost) -> None:
    found = host.boards(driver="nouveau").torch().probe()
    assert found.status is ProbeStatus.NO_DRIVER
    assert "nouveau" in found.reason
    assert "nvidia-smi" in found.hint


def test_a_container_that_was_not_given_the_boards(host: NvidiaHost) -> None:
    host.boards().module().torch().file("/.dockerenv")
    found = host.probe()
    assert found.status is ProbeStatus.NO_DRIVER
    assert "--gpus all" in found.hint


def test_the_driver_s_helper_makes_nodes_on_a_headless_host(host: NvidiaHost) -> None:
    host.boards().module().user_libraries().torch().file("/usr/bin/nvidia-modprobe")
    assert (host.probe().status, host.probe().count) == (ProbeStatus.AVAILABLE, 2)
    host.file("/.dockerenv")  # it cannot do so inside a container
    assert host.probe().status is ProbeStatus.NO_DRIVER


@pytest.mark.parametrize("node", ["nvidiactl", "nvidia-uvm"])
def test_a_missing_control_node(whole: NvidiaHost, node: str) -> None:
    (whole.root / "dev" / node).unlink()
    found = whole.probe()
    assert found.status is ProbeStatus.NO_DRIVER
    assert f"/dev/{node}" in found.reason


def test_torch_is_missing(host: NvidiaHost) -> None:
    found = host.boards().module().nodes().user_libraries().probe()
    assert found.status is ProbeStatus.NOT_INSTALLED
    assert found.hint.startswith("pip install")


@pytest.mark.parametrize(
    ("version", "toolkits", "word"),
    [("2.13.0+cpu", {}, "CPU"), ("2.13.0+rocm7.0", {"hip": "7.0"}, "hip")],
)
def test_a_torch_of_another_build(
    host: NvidiaHost, version: str, toolkits: dict[str, str], word: str
) -> None:
    host.boards().module().nodes().user_libraries().package("torch", version, **toolkits)
    found = host.probe()
    assert found.status is ProbeStatus.INCOMPATIBLE
    assert f"{word} build" in found.reason
    assert "download.pytorch.org/whl/cu" in found.hint


def test_nodes_without_the_driver_s_user_library(host: NvidiaHost) -> None:
    found = host.boards().module().nodes().torch().probe()
    assert found.status is ProbeStatus.LIBRARY_BROKEN
    assert "libcuda.so.1" in found.reason
    assert "NVIDIA_DRIVER_CAPABILITIES" in found.hint


@pytest.mark.parametrize(
    ("value", "word"),
    [("", "hides"), ("-1", "negative"), ("2", "no device"), ("0,0", "twice"), ("x", "no device")],
)
def test_a_mask_that_leaves_nothing(whole: NvidiaHost, value: str, word: str) -> None:
    whole.env(CUDA_VISIBLE_DEVICES=value)
    found = whole.probe()
    assert (found.status, found.count) == (ProbeStatus.HIDDEN_BY_ENV, 0)
    assert word in found.reason
    assert "CUDA_VISIBLE_DEVICES" in found.hint


@pytest.mark.parametrize(
    ("value", "count"),
    [("1", 1), ("1,0", 2), ("0,5", 1), ("GPU-12ab", 1), ("MIG-1/2/3,MIG-4", 2)],
)
def test_a_mask_that_leaves_some(whole: NvidiaHost, value: str, count: int) -> None:
    whole.env(CUDA_VISIBLE_DEVICES=value)
    found = whole.probe()
    assert (found.status, found.count) == (ProbeStatus.AVAILABLE, count)


def test_wsl2_shows_one_node_for_all(host: NvidiaHost) -> None:
    host.torch().file("/dev/dxg")
    assert host.probe().status is ProbeStatus.NO_HARDWARE  # any vendor's board has that node
    host.file("/usr/lib/wsl/lib/libcuda.so.1").env(LD_LIBRARY_PATH="/usr/lib/wsl/lib")
    found = host.probe()
    assert (found.status, found.count) == (ProbeStatus.AVAILABLE, None)


def test_an_integrated_board_has_no_pci_address(host: NvidiaHost) -> None:
    host.torch().user_libraries().file("/dev/nvhost-ctrl-gpu")
    found = host.probe()
    assert (found.status, found.count) == (ProbeStatus.AVAILABLE, None)


# ---------------------------------------------------------------- the grammar, against torch's own

entries = st.one_of(
    st.integers(-2, 12).map(str),
    st.text(alphabet="0123456789+- xGPUMI,", max_size=6),
    st.sampled_from(["GPU-0a", "GPU-1b", "GPU-", "MIG-2c", "MIG-GPU-1b/3/0", " GPU-0a", "1gpu2"]),
)
values = st.lists(entries, max_size=5).map(",".join)


@given(value=values)
def test_the_mask_reads_as_torch_reads_it(value: str) -> None:
    with mock.patch.dict(os.environ, {"CUDA_VISIBLE_DEVICES": value}):
        try:
            oracle = torch.cuda._parse_visible_devices()
        except ValueError:  # a bare sign: torch trips over int("+"); the driver stops there
            return
    mask = VISIBLE_DEVICES[0].parse(value)
    assert list(mask.entries) == [str(entry) for entry in oracle]


@given(value=values, count=st.integers(1, 9))
def test_the_mask_counts_as_torch_counts_it(value: str, count: int) -> None:
    mask = VISIBLE_DEVICES[0].parse(value, count)
    if mask.entries and not mask.entries[0].isdecimal():
        return  # torch counts ids only where the driver library lists them
    with (
        mock.patch.dict(os.environ, {"CUDA_VISIBLE_DEVICES": value}),
        mock.patch.object(torch.cuda, "_raw_device_count_nvml", return_value=count),
    ):
        try:
            oracle = torch.cuda._device_count_nvml()
        except ValueError:
            return
    assert len(mask.entries) == oracle
