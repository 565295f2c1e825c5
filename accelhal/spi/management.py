"""The driver side of a backend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from accelhal.facts import (
    BoardDetails,
    BoardInfo,
    BoardKey,
    HealthReport,
    HealthStatus,
    Link,
    MemoryErrors,
    Partition,
    PcieLink,
    ProcessMemory,
    Relation,
    Telemetry,
    VendorCommands,
)


class Management(ABC):
    """The driver-library side of a backend: all boards of the host, without torch.

    Optional methods answer "not reported" until overridden. A value that the driver does not
    report is None with its reason; an exception means that the board or the library failed.

    Attributes:
        sources: what each figure is read from: "class.field" of accelhal.facts ("Telemetry.power"),
            "HealthReport.check", "versions.name" or "relation" -> the driver's call or file.
    """

    sources: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def boards(self) -> Sequence[BoardInfo]:
        """Every board of this vendor, visible to this process or not; each carries its key."""

    def telemetry(self, board: BoardKey) -> Telemetry:
        """Sensors of the board."""
        return Telemetry(reasons={"*": "this backend reads no sensors"})

    def health(self, board: BoardKey) -> HealthReport:
        """Health of the board."""
        return HealthReport(HealthStatus.UNKNOWN, reason="this backend reads no health")

    def details(self, board: BoardKey) -> BoardDetails:
        """What of the board changes seldom or never. Since 1.1."""
        return BoardDetails(reasons={"*": "this backend reads no details"})

    def memory_errors(self, board: BoardKey) -> MemoryErrors:
        """Errors of the board's memory and their repair. Since 1.1."""
        return MemoryErrors(reasons={"*": "this backend reads no memory errors"})

    def pcie(self, board: BoardKey) -> PcieLink:
        """The board's link to the host. Since 1.1."""
        return PcieLink(reasons={"*": "this backend reads no PCIe link"})

    def links(self, board: BoardKey) -> Sequence[Link]:
        """Links of the board to other boards and to the host."""
        return ()

    def processes(self, board: BoardKey) -> Sequence[ProcessMemory]:
        """Processes that hold memory on the board."""
        return ()

    def partitions(self, board: BoardKey) -> Sequence[Partition]:
        """Slices the board is cut into."""
        return ()

    def partition_commands(self, board: BoardKey, profile: str) -> VendorCommands:
        """What makes a slice of that profile, in the vendor's own tool. Since 1.1."""
        return VendorCommands(notes=("how this vendor cuts a board is not known here",))

    def removal_commands(self, partition: BoardKey) -> VendorCommands:
        """What takes the slice away, in the vendor's own tool. Since 1.1."""
        return VendorCommands(notes=("how this vendor takes a slice away is not known here",))

    def relation(self, board: BoardKey, other: BoardKey) -> Relation | None:
        """How near the two boards are, by the driver's word; None where it has none. Since 1.1."""
        return None

    def versions(self) -> Mapping[str, str]:
        """Versions that the driver reports: "driver", "library", "toolkit". Since 1.1."""
        return {}

    def close(self) -> None:  # noqa: B027  (optional: most libraries need no shutdown)
        """Release the driver library."""
