"""How a plugin describes its vendor's stack, for `probing` to judge: plain data and small looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from accelhal.facts import ProbeStatus
from accelhal.host import Host
from accelhal.host.device_nodes import DeviceNodes
from accelhal.host.torch_install import TorchInstall
from accelhal.host.visible_devices import VisibleDevices


@dataclass(frozen=True)
class Fault:
    """Why a stack cannot be used, and the next step."""

    status: ProbeStatus
    reason: str
    hint: str


@dataclass(frozen=True)
class RequiredLibrary:
    """A shared library without which the stack does not load.

    Attributes:
        name: file name as it is loaded ("libfoo.so.1").
        needed_for: what fails without it.
        sdk_folders: folders of the vendor's kit where it may lie although the loader does not look
            there; found in one of them it is not called missing, and `setup` is the next step.
        setup: how the loader is told of those folders.
    """

    name: str
    needed_for: str
    sdk_folders: Callable[[Host], Sequence[str]] = lambda host: ()
    setup: Callable[[Host], str] = lambda host: ""


@dataclass(frozen=True, kw_only=True)
class NextSteps:
    """What to type where a layer of the stack is missing.

    Attributes:
        driver: the board is there, its driver is not.
        container: the same inside a container, which was not given the board.
        torch: torch is not installed.
        package: the vendor's package is not; "{release}" stands for torch's "major.minor".
        library: the library is nowhere on the host.
    """

    driver: str
    container: str
    torch: str
    library: str
    package: str = ""


@dataclass(frozen=True, kw_only=True)
class VendorStack:
    """One vendor's stack as it shows on a host.

    Attributes:
        vendor: the vendor's name, for messages.
        pci_vendor_id: of its boards.
        device_nodes: what its driver puts under /dev.
        visible_devices: the variables that hide devices; the first one set wins.
        driver_version: glob of a file that the loaded driver shows, and a regular expression
            whose group 1 is the version.
        next_steps: what to type where something is missing.
        torch_package: the package that adds the device to torch, or None.
        library: the shared library that loading needs, or None.
        other_boards: boards with neither a PCI address nor a node per board (path -> what it is).
        nodes_on_demand: whether the driver makes its nodes only once a program asks.
        opening_decides: whether a stack whose library the loader finds counts as present where no
            board is to be seen: containers and simulations may show neither node nor PCI board.
        find_fault: a fault that only this vendor's stack has, given the installed torch.
    """

    vendor: str
    pci_vendor_id: str
    device_nodes: tuple[DeviceNodes, ...]
    visible_devices: tuple[VisibleDevices, ...]
    driver_version: tuple[str, str]
    next_steps: NextSteps
    torch_package: str | None = None
    library: RequiredLibrary | None = None
    other_boards: Callable[[Host], Mapping[str, str]] = lambda host: {}
    nodes_on_demand: Callable[[Host], bool] = lambda host: False
    opening_decides: bool = False
    find_fault: Callable[[Host, TorchInstall], Fault | None] = lambda host, torch: None
