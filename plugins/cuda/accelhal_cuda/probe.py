"""What NVIDIA's stack leaves on a host, and whether it can be used; nothing is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.facts import Probe, ProbeStatus
from accelhal.host import Host
from accelhal.host.device_nodes import DeviceNodes
from accelhal.host.system import container_kind
from accelhal.host.torch_install import TorchInstall
from accelhal.host.visible_devices import IdentifierList, Remainder, VisibleDevices
from accelhal.runtimes.probing import probe_stack
from accelhal.runtimes.vendor_stack import Fault, NextSteps, RequiredLibrary, VendorStack

PCI_VENDOR_ID = "10de"

DEVICE_NODES = (
    DeviceNodes("/dev/nvidia[0-9]*", per_board=True),
    DeviceNodes("/dev/nvidiactl"),
    DeviceNodes("/dev/nvidia-uvm"),
)

VISIBLE_DEVICES = (
    # The driver reads integers with strtoul, so "1gpu2" is 1; torch.cuda mirrors it.
    VisibleDevices(
        "CUDA_VISIBLE_DEVICES",
        identifiers=(IdentifierList("GPU-", "GPU-"), IdentifierList("MIG-", "MIG-")),
        signs=True,
        remainder=Remainder.IGNORED,
    ),
)

_WSL_NODE = "/dev/dxg"
_WSL_LIBRARY = "/usr/lib/wsl/lib/libcuda.so.1"
_INTEGRATED_NODES = ("/dev/nvhost-ctrl-gpu", "/dev/nvgpu/igpu0/ctrl")
_NODE_MAKER = "/usr/bin/nvidia-modprobe"


def _other_boards(host: Host) -> Mapping[str, str]:
    """WSL2 shows one node for all boards; Jetson's is neither on the PCI bus nor numbered."""
    found = {path: "integrated board" for path in _INTEGRATED_NODES if host.exists(path)}
    if host.exists(_WSL_NODE) and host.exists(_WSL_LIBRARY):
        found[_WSL_NODE] = f"WSL2 board, {_WSL_LIBRARY}"
    return found


def _nodes_on_demand(host: Host) -> bool:
    """The driver's setuid helper makes the nodes at a program's first call, on the host itself."""
    return host.exists(_NODE_MAKER) and container_kind(host) is None


def _find_fault(host: Host, torch: TorchInstall) -> Fault | None:
    if "cuda" in torch.build:
        return None
    build = ", ".join(torch.build) or "CPU"
    return Fault(
        ProbeStatus.INCOMPATIBLE,
        f"torch {torch.version} is a {build} build: it cannot use an NVIDIA board",
        "pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/cu126 "
        "(cu130 for Blackwell boards, with driver 580 or newer)",
    )


STACK = VendorStack(
    vendor="NVIDIA",
    pci_vendor_id=PCI_VENDOR_ID,
    device_nodes=DEVICE_NODES,
    visible_devices=VISIBLE_DEVICES,
    driver_version=("/proc/driver/nvidia/version", r"^NVRM version:.*?\s(\d+\.\d[\d.]*)"),
    library=RequiredLibrary(
        "libcuda.so.1", needed_for="torch.cuda cannot reach the driver without it"
    ),
    other_boards=_other_boards,
    nodes_on_demand=_nodes_on_demand,
    find_fault=_find_fault,
    next_steps=NextSteps(
        driver="install the NVIDIA driver for this kernel (it takes the place of nouveau), reboot, "
        "then run nvidia-smi",
        container="start the container with --gpus all (Kubernetes: request nvidia.com/gpu)",
        torch="pip install 'accelhal[torch]'",
        library="install the driver's user libraries; in a container, start it with --gpus all "
        "and NVIDIA_DRIVER_CAPABILITIES=compute,utility",
    ),
)


def probe(host: Host) -> Probe:
    """Whether an NVIDIA board can be used through this host's torch."""
    return probe_stack(host, STACK)
