"""What the doctor says of containers."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.spi.doctor import Text

TEXTS: Mapping[str, Text] = {
    "mounts.no_container": Text("not in a container"),
    "mounts.complete": Text(
        "{device}: the container has {nodes} boards and the driver's libraries"
    ),
    "mounts.no_library": Text(
        "{device}: the container has {nodes} boards and no {libraries}",
        "It was started with the nodes and without the driver's libraries of the host.",
        "the container is started with {mounts} of the host too",
    ),
    "mounts.no_nodes": Text(
        "{device}: 0 of {boards} boards in this container: no {patterns}",
        "It has {libraries} and not the nodes: it was started without them, or its runtime or "
        "scheduler gave it none.",
        "the container is started with a node for each board",
    ),
    "cgroup.allowed": Text("{device}: no node is refused by the control group"),
    "cgroup.some": Text("{device}: {open} of {nodes} boards are given to this process"),
    "cgroup.refused": Text(
        "{device}: the control group refuses {paths}",
        "The nodes are there and their mode lets this process in, but the device rules of its "
        "control group do not: they were rewritten after the start, or never named these nodes.",
        "the control group allows the nodes",
    ),
}
