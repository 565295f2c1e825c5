"""What the doctor says of the driver."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.spi.doctor import Text

TEXTS: Mapping[str, Text] = {
    # ---- driver.foreign
    "foreign.none": Text("{device}: no other kernel driver has the boards"),
    "foreign.bound": Text(
        "{device}: {drivers} has the boards {boards}",
        "A kernel driver that is not the vendor's took them first; the vendor's cannot use them.",
        "the vendor's kernel driver has the boards",
    ),
    "foreign.passed_through": Text(
        "{device}: {driver} keeps {boards} for virtual machines",
        "No program of this host can use them while it does.",
        "the vendor's kernel driver has the boards that this host is to use",
    ),
    "foreign.unbound": Text(
        "{device}: {module} is loaded and did not take {boards}",
        "The driver refused the boards or failed to start them; the kernel log says why.",
        "the vendor's kernel driver has the boards",
    ),
    # ---- driver.module
    "module.loaded": Text("{device}: kernel module {module} {version} is loaded"),
    "module.loaded_unversioned": Text("{device}: kernel module {module} is loaded"),
    "module.runs": Text("{device}: the driver runs"),
    "module.not_needed": Text("{device}: not loaded; virtual machines have the boards"),
    "module.not_loaded": Text(
        "{device}: kernel module {module} is built for {kernel} and not loaded",
        "It was unloaded or kept from loading, or failed to start; the kernel log says which.",
        "the module is loaded",
    ),
    "module.not_built": Text(
        "{device}: no kernel module for {kernel}",
        "The driver was not built for the kernel that runs: the kernel or the driver was upgraded, "
        "perhaps automatically, and the module was not built again. In a container: on its host.",
        "a module that was built for the running kernel, and packages that are held back",
    ),
    "module.missing": Text(
        "{device}: kernel module {module} is not loaded on {kernel}",
        "The driver is not installed, or was not built for the kernel that runs: an upgrade of the "
        "kernel or of the driver leaves it without. In a container: on its host.",
        "a module that was built for the running kernel is loaded",
    ),
    # ---- driver.nodes
    "nodes.open": Text("{device}: nodes open to this process: {count}"),
    "nodes.some": Text("{device}: nodes open to this process: {count} of {nodes}"),
    "nodes.on_demand": Text("{device}: no {patterns} yet; the driver makes it when a program asks"),
    "nodes.missing": Text(
        "{device}: no {patterns}",
        "The driver makes the nodes when it loads; it is not loaded, or did not start.",
        "the nodes exist, and this process may read and write them",
    ),
    "nodes.missing_in_container": Text(
        "{device}: no {patterns} in this container",
        "A container sees only the nodes it was started with; or the host's driver is not loaded.",
        "the container is started with the nodes, and this process may read and write them",
    ),
    "nodes.denied": Text(
        "{device}: no right to open {paths}",
        "The nodes exist, but this process may not both read and write them.",
        "read and write rights, by group or by the container's device list",
    ),
    "nodes.fewer": Text(
        "{device}: nodes for {nodes} of {boards} boards",
        "The others were not given to this container, or their driver did not start on them.",
        "a node for each board this process is to use",
    ),
    # ---- driver.userlib
    "userlib.found": Text("{device}: the loader finds {libraries}"),
    "userlib.missing": Text(
        "{device}: no {libraries}",
        "Programs reach the driver through these libraries, and cannot start without them.",
        "the loader finds the libraries of the installed driver",
    ),
    "userlib.stub": Text(
        "{device}: the loader takes a stub of {libraries} from {folder}",
        "Toolkits bring it for linking; it does nothing, so that no board is found or the first "
        "call fails.",
        "the library of the installed driver",
    ),
    "userlib.unlisted": Text(
        "{device}: {libraries} lies in {folder}, where the loader does not look here",
    ),
    # ---- driver.match
    "match.same": Text("{device}: {one} and {other} are of one release, {one_version}"),
    "match.differ": Text(
        "{device}: {one} {one_version} and {other} {other_version} differ",
        "An upgrade replaced the libraries, and the module before it is still loaded: new programs "
        "fail.",
        "both are of one release",
    ),
    # ---- driver.toolkit
    "toolkit.fits": Text("{device}: {change} {version} goes with {other} {other_version}"),
    "toolkit.alone": Text("{device}: driver {version}; nothing here asks for a newer one"),
    "toolkit.unlisted": Text(
        "{device}: nobody lists {other} {other_version} with {change} {version}; listed: {partners}"
    ),
    "toolkit.too_old": Text(
        "{device}: {change} {version} is too old for {other} {other_version}",
        "Programs fail at their first call, or find no board and quietly compute on the CPU.",
        "{change} {wanted}",
    ),
    "toolkit.mismatch": Text(
        "{device}: {change} {version} does not go with {other} {other_version}",
        "They were not made for one another; programs fail at their first call or find no board.",
        "{change} {wanted}",
    ),
    # ---- driver.firmware
    "firmware.fits": Text("{device}: {change} {version} goes with {other} {other_version}"),
    "firmware.unlisted": Text(
        "{device}: nothing says whether {change} {version} goes with {other} {other_version}"
    ),
    "firmware.too_old": Text(
        "{device}: {change} {version} is too old for {other} {other_version}",
        "The driver names the firmware that it works with, and this is not of it.",
        "{change} {wanted}",
    ),
    "firmware.mismatch": Text(
        "{device}: {change} {version} does not go with {other} {other_version}",
        "The driver names the firmware that it works with, and this is not of it.",
        "{change} {wanted}",
    ),
    "firmware.differs": Text(
        "{device}: boards of the model {model} have the firmware {versions}",
        "Equal boards with unequal firmware differ in speed and faults; an update missed some.",
        "one firmware on equal boards",
    ),
}
