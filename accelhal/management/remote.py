"""A Management whose driver library lives in a driver process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from accelhal.facts import (
    BoardDetails,
    BoardInfo,
    BoardKey,
    HealthReport,
    Link,
    MemoryErrors,
    Partition,
    PcieLink,
    ProcessMemory,
    Relation,
    Telemetry,
    VendorCommands,
)
from accelhal.management.driver_client import DriverClient
from accelhal.spi import Management


class RemoteManagement(Management):
    """Asks a driver process; DeviceTimeoutError where it does not answer within its limit."""

    def __init__(self, client: DriverClient) -> None:
        self.client = client

    def boards(self) -> Sequence[BoardInfo]:
        return self._ask("boards")

    def telemetry(self, board: BoardKey) -> Telemetry:
        return self._ask("telemetry", board)

    def health(self, board: BoardKey) -> HealthReport:
        return self._ask("health", board)

    def details(self, board: BoardKey) -> BoardDetails:
        return self._ask("details", board)

    def memory_errors(self, board: BoardKey) -> MemoryErrors:
        return self._ask("memory_errors", board)

    def pcie(self, board: BoardKey) -> PcieLink:
        return self._ask("pcie", board)

    def links(self, board: BoardKey) -> Sequence[Link]:
        return self._ask("links", board)

    def processes(self, board: BoardKey) -> Sequence[ProcessMemory]:
        return self._ask("processes", board)

    def partitions(self, board: BoardKey) -> Sequence[Partition]:
        return self._ask("partitions", board)

    def partition_commands(self, board: BoardKey, profile: str) -> VendorCommands:
        return self._ask("partition_commands", board, profile)

    def removal_commands(self, partition: BoardKey) -> VendorCommands:
        return self._ask("removal_commands", partition)

    def relation(self, board: BoardKey, other: BoardKey) -> Relation | None:
        return self._ask("relation", board, other)

    def versions(self) -> Mapping[str, str]:
        return self._ask("versions")

    def close(self) -> None:
        self.client.close()

    def _ask(self, method: str, *arguments: BoardKey | str) -> Any:
        return self.client.ask(method, *arguments)


def read_all(
    management: Management, method: str, boards: Sequence[BoardKey]
) -> list[Any | Exception]:
    """The method's result for each board, or the exception in its place; one exchange for all."""
    return read_each(management, (method,), boards)[method]


def read_each(
    management: Management, methods: Sequence[str], boards: Sequence[BoardKey]
) -> dict[str, list[Any | Exception]]:
    """Method -> its results as of `read_all`; one exchange for all methods and boards."""
    if isinstance(management, RemoteManagement):
        calls = [(method, (board,)) for method in methods for board in boards]
        answers = iter(management.client.ask_all(calls))
        return {method: [next(answers) for _ in boards] for method in methods}
    return {method: [_result(management, method, board) for board in boards] for method in methods}


def _result(management: Management, method: str, board: BoardKey) -> Any | Exception:
    try:
        return getattr(management, method)(board)
    except Exception as error:  # a driver's wrapper raises what it likes
        return error
