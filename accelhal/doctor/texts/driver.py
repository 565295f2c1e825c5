"""What the doctor says of the driver."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.spi.doctor import Text

TEXTS: Mapping[str, Text] = {
    "nodes.not_needed": Text("no board here that needs a node under /dev"),
    "nodes.open": Text("{device}: nodes open to this process: {count}"),
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
}
