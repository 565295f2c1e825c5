"""Management of the simulated boards: what a vendor's driver library would show of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import TypeVar

from accelhal.errors import DeviceNotFoundError
from accelhal.facts import (
    BoardDetails,
    BoardInfo,
    BoardKey,
    HealthCheck,
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
from accelhal.spi import Management
from accelhal_mock import board_facts, board_readings, installation
from accelhal_mock.management_sources import SOURCES
from accelhal_mock.simulation import Board, FaultKind, Machine
from accelhal_mock.simulation.error_texts import FAULT_TEXTS, LIBRARY_TEXTS

Facts = TypeVar("Facts", BoardDetails, MemoryErrors, PcieLink)


class SimulatedManagement(Management):
    """The boards installed at the time of each call.

    Raises:
        OSError: as the loader does, where a library_missing or library_broken fault stands.
        PermissionError: where a permission_denied fault stands.
    """

    sources = SOURCES

    def __init__(self) -> None:
        _machine()

    def boards(self) -> Sequence[BoardInfo]:
        return [board_facts.info(board) for board in _machine().boards]

    def telemetry(self, board: BoardKey) -> Telemetry:
        found = _board(board)
        if found.faults.standing(FaultKind.LOST):
            return Telemetry(reasons={"*": _text(FaultKind.LOST, found)})
        reading = found.sensors.read()
        free, total = found.memory.mem_get_info()
        return Telemetry(
            temperature=reading.temperature,
            power=reading.power,
            power_limit=reading.power_limit,
            utilization=100.0 * reading.utilization,
            core_clock=reading.core_clock,
            memory_clock=reading.memory_clock,
            memory_used=total - free,
            memory_total=total,
            throttle_reasons=reading.throttle_reasons,
            memory_bandwidth_utilization=board_readings.moved_by(found),
            reasons=board_readings.not_simulated(
                "memory_temperature",
                *(() if found.hung else ("memory_bandwidth_utilization",)),
            ),
        )

    def details(self, board: BoardKey) -> BoardDetails:
        return _answered(board, BoardDetails, board_readings.details)

    def memory_errors(self, board: BoardKey) -> MemoryErrors:
        return _answered(board, MemoryErrors, board_readings.memory_errors)

    def pcie(self, board: BoardKey) -> PcieLink:
        return _answered(board, PcieLink, board_readings.pcie)

    def health(self, board: BoardKey) -> HealthReport:
        found = _board(board)
        return HealthReport.of(_checks(found))

    def links(self, board: BoardKey) -> Sequence[Link]:
        found = _board(board)
        machine, pcie = found.machine, found.profile.pcie
        links = [Link("PCIe", None, True, found.pcie_lanes or pcie.lanes)]
        mine = found.profile.link
        if mine is not None:
            links += [
                Link(mine.kind, board_facts.key(other), machine.link_up(found.index, other.index))
                for other in machine.boards
                if other is not found
                and other.profile.link is not None
                and other.profile.link.kind == mine.kind
            ]
        return links

    def processes(self, board: BoardKey) -> Sequence[ProcessMemory]:
        memory = _board(board).memory
        own = memory.reserved()
        found = [ProcessMemory(os.getpid(), own)] if own else []
        return found + [ProcessMemory(pid, used) for pid, used in memory.others.items()]

    def partitions(self, board: BoardKey) -> Sequence[Partition]:
        found = _board(board)
        return [
            Partition(
                key=BoardKey(board.backend, "uuid", f"{found.uuid}/{number}"),
                parent=board,
                profile=part.name,
                total_memory=part.memory,
                compute_share=part.compute_share,
            )
            for number, part in enumerate(found.slices)
        ]

    def partition_commands(self, board: BoardKey, profile: str) -> VendorCommands:
        index = _board(board).index
        call = f"machine.board({index}).cut({profile!r})"
        return VendorCommands(notes=(f"the program that simulates it cuts it: {call}",))

    def removal_commands(self, partition: BoardKey) -> VendorCommands:
        call = "machine.board(index).cut() makes it whole"
        return VendorCommands(notes=(f"the program that simulates it takes slices away: {call}",))

    def relation(self, board: BoardKey, other: BoardKey) -> Relation | None:
        return board_readings.relation(_board(board), _board(other))

    def versions(self) -> Mapping[str, str]:
        _machine()
        return {"driver": version("accelhal-mock")}


def _machine() -> Machine:
    machine = installation.machine()
    for kind, text in LIBRARY_TEXTS.items():
        if any(board.faults.standing(kind) for board in machine.boards):
            raise PermissionError(text) if kind is FaultKind.PERMISSION_DENIED else OSError(text)
    return machine


def _board(key: BoardKey) -> Board:
    for board in _machine().boards:
        if board_facts.key(board) == key:
            return board
    raise DeviceNotFoundError(
        f"no simulated board has the {key.source} {key.value}",
        backend=key.backend,
        operation="management",
        hint="the boards were installed anew: take the key from accelhal.boards() again",
    )


def _answered(key: BoardKey, kind: type[Facts], read: Callable[[Board], Facts]) -> Facts:
    """What is read of the board; a lost one reports nothing."""
    board = _board(key)
    if board.faults.standing(FaultKind.LOST):
        return kind(reasons={"*": _text(FaultKind.LOST, board)})
    return read(board)


def _checks(board: Board) -> Iterator[HealthCheck]:
    faults = board.faults
    if faults.standing(FaultKind.LOST):
        yield HealthCheck("bus", HealthStatus.FAILED, "lost", _text(FaultKind.LOST, board))
        return
    yield HealthCheck("bus", HealthStatus.OK, "present")
    broken = faults.standing(FaultKind.ECC_UNCORRECTED) is not None
    yield HealthCheck(
        "ecc",
        HealthStatus.FAILED if broken else HealthStatus.OK,
        f"{faults.corrected} corrected, {int(broken)} uncorrected",
        _text(FaultKind.ECC_UNCORRECTED, board) if broken else "",
    )
    pending = faults.standing(FaultKind.ROW_REMAP_PENDING) is not None
    yield HealthCheck(
        "row_remap",
        HealthStatus.DEGRADED if pending else HealthStatus.OK,
        "pending" if pending else "none",
        "a reset of the board remaps the rows" if pending else "",
    )
    reasons = board.sensors.read().throttle_reasons
    yield HealthCheck(
        "throttle",
        HealthStatus.DEGRADED if reasons else HealthStatus.OK,
        ", ".join(reasons) or "none",
    )
    lanes = board.pcie_lanes
    yield HealthCheck(
        "pcie",
        HealthStatus.OK if lanes is None else HealthStatus.DEGRADED,
        f"x{lanes or board.profile.pcie.lanes}",
        "" if lanes is None else f"the board has x{board.profile.pcie.lanes}",
    )
    if board.profile.link is not None:
        down = faults.standing(FaultKind.LINK_DOWN) is not None
        yield HealthCheck(
            "link",
            HealthStatus.FAILED if down else HealthStatus.OK,
            f"{board.profile.link.kind} {'down' if down else 'up'}",
        )
    hung = faults.standing(FaultKind.HANG) is not None
    yield HealthCheck(
        "progress",
        HealthStatus.FAILED if hung else HealthStatus.OK,
        "work hangs" if hung else "none hangs",
    )


def _text(kind: FaultKind, board: Board) -> str:
    return FAULT_TEXTS[kind].format(name=board.machine.name.upper(), board=board)
