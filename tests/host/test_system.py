from __future__ import annotations

import platform
from pathlib import Path

import pytest
from host_tree import HostTree

from accelhal.host import Host
from accelhal.host.system import MemoryInfo, container_kind, cpu_model, host_facts, memory_info


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        ("/.dockerenv", "", "docker"),
        ("/run/.containerenv", "", "podman"),
        ("/proc/1/cgroup", "0::/system.slice/containerd.service\n", "containerd"),
        ("/proc/1/cgroup", "0::/init.scope\n", None),
    ],
)
def test_containers_are_told_apart(tmp_path: Path, path: str, text: str, kind: str | None) -> None:
    assert container_kind(HostTree(tmp_path).file(path, text).host) == kind


def test_a_pod_is_told_by_its_environment(tmp_path: Path) -> None:
    tree = HostTree(tmp_path).file("/.dockerenv").env(KUBERNETES_SERVICE_HOST="10.0.0.1")
    assert container_kind(tree.host) == "kubernetes"


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        ("/.dockerenv", "", "container"),
        ("/proc/cpuinfo", "flags\t\t: fpu vme hypervisor lahf_lm\n", "vm"),
        ("/sys/class/dmi/id/product_name", "KVM Virtual Machine\n", "vm"),
        ("/proc/cpuinfo", "flags\t\t: fpu vme\n", "bare"),
    ],
)
def test_the_kind_of_machine(tmp_path: Path, path: str, text: str, kind: str) -> None:
    assert host_facts(HostTree(tmp_path).file(path, text).host).kind == kind


def test_memory_is_in_bytes(tmp_path: Path) -> None:
    tree = HostTree(tmp_path)
    assert memory_info(tree.host) is None
    tree.file("/proc/meminfo", "MemTotal:  2048 kB\nMemFree:  1 kB\nMemAvailable:  1024 kB\n")
    assert memory_info(tree.host) == MemoryInfo(available=2**20, total=2**21)


@pytest.mark.parametrize("total", ["", "x kB", "-1 kB", "2048", "2048 MB", "2048 kB extra"])
def test_memory_that_does_not_read_is_not_reported(tmp_path: Path, total: str) -> None:
    tree = HostTree(tmp_path)
    tree.file("/proc/meminfo", f"MemTotal:  {total}\nMemAvailable:  1024 kB\n")
    assert memory_info(tree.host) is None
    assert host_facts(tree.host).memory_total is None


def test_the_processor_has_its_name(tmp_path: Path) -> None:
    tree = HostTree(tmp_path).file("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Acme 9000\n")
    assert cpu_model(tree.host) == "Acme 9000"
    tree.file("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x48\n")
    assert cpu_model(tree.host) == platform.machine()


def test_this_host_is_described_whole() -> None:
    facts = host_facts(Host())
    assert facts.system == "Linux"
    assert facts.cpu_count >= 1
    assert (facts.container is not None) == (facts.kind == "container")
