"""What Huawei's Ascend stack leaves on a host, and whether it can be used; nothing is loaded."""

from __future__ import annotations

import platform
from os.path import dirname

from accelhal.facts import Probe, ProbeStatus
from accelhal.host import Host
from accelhal.host.device_nodes import DeviceNodes
from accelhal.host.torch_install import TorchInstall
from accelhal.host.visible_devices import Remainder, VisibleDevices
from accelhal.runtimes.probing import probe_stack
from accelhal.runtimes.vendor_stack import Fault, NextSteps, RequiredLibrary, VendorStack

PCI_VENDOR_ID = "19e5"
TORCH_PACKAGE = "torch_npu"

DEVICE_NODES = (
    DeviceNodes("/dev/davinci[0-9]*", per_board=True),
    DeviceNodes("/dev/davinci_manager"),
    DeviceNodes("/dev/devmm_svm"),
    DeviceNodes("/dev/hisi_hdc"),
)

VISIBLE_DEVICES = (
    # The runtime reads digits and commas only, stops at any other character, and wants the
    # integers to ascend.
    VisibleDevices(
        "ASCEND_RT_VISIBLE_DEVICES", blanks=False, remainder=Remainder.ENDS, ascending=True
    ),
)

_HOME_VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
_PARTS = ("runtime", "compiler")
"""Folders of CANN that torch_npu looks for when it is imported."""

_HOMES = ("/usr/local/Ascend/ascend-toolkit/latest", "/usr/local/Ascend/cann")
_SETUP_SCRIPTS = (
    "/usr/local/Ascend/ascend-toolkit/set_env.sh",
    "/usr/local/Ascend/cann/set_env.sh",
)


def _homes(host: Host) -> list[str]:
    return [host.environ[name] for name in _HOME_VARIABLES if host.environ.get(name)]


def _sdk_folders(host: Host) -> list[str]:
    machine = f"{platform.machine()}-linux"
    return [
        f"{home}/{folder}"
        for home in (*_homes(host), *_HOMES)
        for folder in ("lib64", f"{machine}/lib64")
    ]


def _setup(host: Host) -> str:
    beside = [f"{folder}/set_env.sh" for home in _homes(host) for folder in (home, dirname(home))]
    found = next((path for path in (*beside, *_SETUP_SCRIPTS) if host.exists(path)), None)
    return f"source {found}" if found else "source the set_env.sh of your CANN installation"


def _find_fault(host: Host, torch: TorchInstall) -> Fault | None:
    return _two_accelerators(torch) or _half_installed(host)


def _two_accelerators(torch: TorchInstall) -> Fault | None:
    """torch_npu >= 2.5.1 raises at import beside a torch built for another accelerator."""
    if not torch.build or torch.release < (2, 5):
        return None
    return Fault(
        ProbeStatus.INCOMPATIBLE,
        f"torch {torch.version} is a {', '.join(torch.build)} build, which torch_npu refuses",
        f"pip install --force-reinstall --no-deps torch=={torch.public_version} "
        "--index-url https://download.pytorch.org/whl/cpu",
    )


def _half_installed(host: Host) -> Fault | None:
    """torch_npu raises at import where ASCEND_HOME_PATH is set and what it names is not there."""
    home = host.environ.get("ASCEND_HOME_PATH")
    if home is None:
        return None
    operators = host.environ.get("ASCEND_OPP_PATH")
    if not host.exists(home):
        reason = f"ASCEND_HOME_PATH={home} does not exist"
    elif operators is None:
        reason = "ASCEND_HOME_PATH is set, ASCEND_OPP_PATH is not"
    elif not host.exists(operators):
        reason = f"ASCEND_OPP_PATH={operators} does not exist"
    else:
        missing = next((part for part in _PARTS if not host.exists(f"{home}/{part}")), None)
        if missing is None:
            return None
        reason = f"ASCEND_HOME_PATH={home} has no folder {missing!r}"
    return Fault(ProbeStatus.LIBRARY_BROKEN, f"{reason}: torch_npu does not import", _setup(host))


STACK = VendorStack(
    vendor="Huawei Ascend",
    pci_vendor_id=PCI_VENDOR_ID,
    device_nodes=DEVICE_NODES,
    visible_devices=VISIBLE_DEVICES,
    # From release 26 on, Version may be a component's; package_version is the driver's.
    driver_version=(
        "/usr/local/Ascend/driver/version.info",
        r"(?:(?s:.*)^package_version|^Version)=(\S+)",
    ),
    torch_package=TORCH_PACKAGE,
    library=RequiredLibrary(
        "libhccl.so",
        needed_for="torch_npu, and with it a plain `import torch`, fails without CANN",
        sdk_folders=_sdk_folders,
        setup=_setup,
    ),
    find_fault=_find_fault,
    opening_decides=True,
    next_steps=NextSteps(
        driver="install the Ascend driver and firmware (HDK), then run npu-smi info",
        container="start the container with --device /dev/davinci0 --device /dev/davinci_manager "
        "--device /dev/devmm_svm --device /dev/hisi_hdc "
        "-v /usr/local/Ascend/driver:/usr/local/Ascend/driver",
        torch="pip install torch_npu --extra-index-url https://download.pytorch.org/whl/cpu",
        package="pip install 'torch_npu=={release}.*' "
        "--extra-index-url https://download.pytorch.org/whl/cpu",
        library="install the CANN toolkit, then source its set_env.sh; or pip uninstall torch_npu",
    ),
)


def probe(host: Host) -> Probe:
    """Whether an Ascend board can be used through this host's torch_npu."""
    return probe_stack(host, STACK)
