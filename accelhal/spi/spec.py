"""A backend's description: what the entry point of a plugin names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a driver process needs none of it, and is started while someone waits
    from accelhal.facts import BoardInfo, Location, Probe
    from accelhal.host import Host
    from accelhal.host.device_nodes import DeviceNodes
    from accelhal.host.library_search import LibraryFile
    from accelhal.host.visible_devices import VisibleDevices
    from accelhal.spi.management import Management
    from accelhal.spi.runtime import Runtime

API_VERSION = (1, 1)
"""(major, minor) of this interface. A plugin's major must match; minors only add options."""

ENTRY_POINT_GROUP = "accelhal.backends"

EXTENSIONS: Mapping[str, str] = {
    "doctor_facts": "what a host with this vendor's boards looks like",
    "doctor_rules": "checks that only this vendor's hosts need",
    "compatibility": "driver, toolkit and torch pairs known to work or not",
    "faults": "the vendor's fault codes, their severity and remedy",
    "evidence_readers": "readers of the vendor tools' output",
    "sanitizer": "the vendor's memory and race checker",
    "profiler_ranges": "named ranges for the vendor's profiler",
    "occupancy": "occupancy calculator",
    "operators": "which operators have kernels, and what runs the others",
    "conformance": "how the conformance suite makes tensors and faults, what it expects to fail",
    "ray_resource": "resource name under Ray",
    "board_models": "nominal figures of the vendor's boards",
}
"""The closed list of extension keys: what is a vendor's by nature, reached by name alone."""


@dataclass(frozen=True, kw_only=True)
class BackendSpec:
    """One backend, described without importing torch or the vendor's package.

    The entry point `accelhal.backends` of the plugin names a module-level instance.

    Attributes:
        name: torch device type ("npu"); also the entry point's name.
        vendor: the vendor's name.
        api_version: the interface version the plugin was written for.
        priority: automatic choice takes the highest; accelhal's cpu has 0.
        probe: looks at the host and says whether the backend can be used; imports no vendor
            package, opens nothing, takes under 50 ms.
        open_runtime: imports what it needs and returns the Runtime.
        open_management: loads the driver library and returns the Management, or None.
        driver_library: the file that open_management loads; where the loader would not find it,
            nothing is started. None where only trying can tell. Since 1.1.
        locate: which of the driver's boards would be under torch's device of that index in a
            process that starts in the environment of `host`; told without torch, from variables and
            boards. A Location without key where that would be a guess. Since 1.1.
        torch_package: the package that adds `torch.<name>` ("torch_npu"), or None.
        needs_privateuse1: whether it takes torch's one place for out-of-tree devices.
        visible_devices: the variables that hide devices; the first one set wins.
        device_nodes: what the driver puts under /dev.
        distributed_backend: name of the collective library for torch.distributed.
        pci_vendor_ids: four hexadecimal digits, lower case.
        simulated: True where there is no hardware behind it.
        extensions: keys of EXTENSIONS -> "package.module:attribute".
    """

    name: str
    vendor: str
    api_version: tuple[int, int]
    priority: int
    probe: Callable[[Host], Probe]
    open_runtime: Callable[[], Runtime]
    open_management: Callable[[], Management] | None = None
    driver_library: LibraryFile | None = None
    locate: Callable[[int, Host, Sequence[BoardInfo]], Location] | None = None
    torch_package: str | None = None
    needs_privateuse1: bool = False
    visible_devices: tuple[VisibleDevices, ...] = ()
    device_nodes: tuple[DeviceNodes, ...] = ()
    distributed_backend: str = "gloo"
    pci_vendor_ids: tuple[str, ...] = ()
    simulated: bool = False
    extensions: Mapping[str, str] = field(default_factory=dict)
