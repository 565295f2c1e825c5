"""Source of a plugin "toy" with a driver: one board on NUMA node 0, one on none, and slices."""

TOY_BOARDS = """
from accelhal.facts import (
    BoardInfo, BoardKey, Location, Partition, Probe, ProbeStatus, VendorCommands,
)
from accelhal.spi import BackendSpec, Management

def probe(host):
    return Probe(ProbeStatus.AVAILABLE, 2, "two toys")

def open_runtime():
    raise OSError("libtoy.so: no such file")

def board(number, pci, node, parent=None):
    name = f"TOY-{number}"
    return BoardInfo(
        BoardKey("toy", "uuid", name), "Toymaker", "Toy One", "toy", "libtoy", uuid=name, pci=pci,
        index=None if parent else number, numa_node=node, total_memory=64 << 30, parent=parent,
    )

NEAR, FAR = board(0, "0000:aa:00.0", 0), board(1, None, None)

class Driver(Management):
    def boards(self):
        return [NEAR, FAR]

    def partitions(self, key):
        if key != NEAR.key:
            return []
        environment = {"TOY_VISIBLE_DEVICES": "TOY-0/a"}
        part = BoardKey("toy", "uuid", "TOY-0/a")
        return [Partition(part, key, "quarter", 16 << 30, 0.25, environment)]

    def partition_commands(self, key, profile):
        return VendorCommands((f"sudo toyctl cut {key.value} {profile}",), ("it needs root",))

    def removal_commands(self, key):
        return VendorCommands((f"sudo toyctl mend {key.value}",))

def open_management():
    return Driver()

def locate(index, host, boards):
    if index < len(boards):
        return Location(boards[index].key)
    return Location(None, f"there is no toy {index}")

SPEC = BackendSpec(
    name="toy", vendor="Toymaker", api_version=(1, 1), priority=5, probe=probe,
    open_runtime=open_runtime, open_management=open_management, locate=locate,
)
"""
