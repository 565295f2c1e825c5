"""What Cambricon's stack leaves on a host, and whether it can be used; nothing is loaded."""

from __future__ import annotations

from accelhal.facts import Probe
from accelhal.host import Host
from accelhal.host.device_nodes import DeviceNodes
from accelhal.runtimes.probing import probe_stack
from accelhal.runtimes.vendor_stack import NextSteps, RequiredLibrary, VendorStack
from accelhal_cambricon.masks import VISIBLE_DEVICES as VISIBLE_DEVICES

PCI_VENDOR_ID = "cabc"
TORCH_PACKAGE = "torch_mlu"

DEVICE_NODES = (
    DeviceNodes("/dev/cambricon_dev[0-9]*", per_board=True),
    DeviceNodes("/dev/cambricon_ctl"),
    DeviceNodes("/dev/cambricon_ipcm[0-9]*", required=False),
)

_NEUWARE = "/usr/local/neuware"


def _sdk_folders(host: Host) -> list[str]:
    homes = [host.environ.get("NEUWARE_HOME", ""), _NEUWARE]
    return [f"{home}/{folder}" for home in homes if home for folder in ("lib64", "lib")]


def _setup(host: Host) -> str:
    home = host.environ.get("NEUWARE_HOME") or _NEUWARE
    return f"export LD_LIBRARY_PATH={home}/lib64:$LD_LIBRARY_PATH, before Python starts"


STACK = VendorStack(
    vendor="Cambricon",
    pci_vendor_id=PCI_VENDOR_ID,
    device_nodes=DEVICE_NODES,
    visible_devices=VISIBLE_DEVICES,
    driver_version=("/proc/driver/cambricon/mlus/*/information", r"Driver Version\s*:\s*(\S+)"),
    torch_package=TORCH_PACKAGE,
    library=RequiredLibrary(
        "libcnrt.so",
        needed_for="torch_mlu does not import without Neuware",
        sdk_folders=_sdk_folders,
        setup=_setup,
    ),
    next_steps=NextSteps(
        driver="install the Cambricon driver, then run cnmon",
        container="start the container with --device /dev/cambricon_dev0 "
        "--device /dev/cambricon_ctl",
        torch="install the torch and torch_mlu wheels of one Cambricon release (sdk.cambricon.com)",
        package="install the torch_mlu wheel for torch {release} from sdk.cambricon.com; "
        "it is not on PyPI",
        library="install Neuware (CNToolkit), then export "
        "LD_LIBRARY_PATH=/usr/local/neuware/lib64:$LD_LIBRARY_PATH",
    ),
)


def probe(host: Host) -> Probe:
    """Whether a Cambricon board can be used through this host's torch_mlu."""
    return probe_stack(host, STACK)
