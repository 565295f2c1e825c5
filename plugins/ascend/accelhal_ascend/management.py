"""Management over DCMI: chips of cards and their vNPUs, sensors, health, links, processes."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NoReturn

from accelhal.drivers.readings import NotReportedError, Once, collect, or_none
from accelhal.errors import DeviceNotFoundError
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
from accelhal.host import Host
from accelhal.host.system import host_kind
from accelhal.spi import Management
from accelhal_ascend import (
    dcmi as calls,
    dcmi_figures as figures,
    dcmi_vnpu as vnpu,
    vnpu_commands,
)
from accelhal_ascend.dcmi import Dcmi, known, text_of
from accelhal_ascend.dcmi_boards import Board, aliases, label, list_boards
from accelhal_ascend.dcmi_health import judge
from accelhal_ascend.dcmi_links import (
    links,
    pcie_generation,
    pcie_lanes,
    pcie_replays,
    relation,
)
from accelhal_ascend.dcmi_memory import read_ecc, read_memory
from accelhal_ascend.dcmi_sources import SOURCES


class DcmiManagement(Management):
    """The boards of Huawei's driver, each known by logic id, die UUID and PCI address.

    Calls that block for a measuring window (PCIe and HCCS traffic), and the network check that may
    hang after a board fell off the bus, are not made.

    Args:
        host: where the kernel's files are read.

    Raises:
        BackendLoadError: the library does not load, or does not start.
    """

    sources = SOURCES

    def __init__(self, host: Host | None = None) -> None:
        self._host = host or Host()
        self._dcmi = Dcmi()
        self._boards: dict[BoardKey, Board] = {}
        # Asked with each sample of an idle board, and the files are long.
        self._in_virtual_machine = Once(lambda: host_kind(self._host) == "vm")

    def boards(self) -> Sequence[BoardInfo]:
        found: dict[BoardKey | None, Board] = {}
        for chip in list_boards(self._dcmi, self._host):
            for board in (chip, *vnpu.slices(self._dcmi, chip)):
                found.setdefault(board.info.key, board)
        listed = list(found.values())
        # What was listed once keeps its key: a board that fell off the bus loses its numbers.
        self._boards.update({name: board for board in reversed(listed) for name in aliases(board)})
        return [board.info for board in listed]

    def telemetry(self, board: BoardKey) -> Telemetry:
        place = self._board(board)
        dcmi, address = self._dcmi, place.address
        if place.vnpu is not None:
            return vnpu.telemetry(dcmi, place)
        memory = Once(partial(read_memory, dcmi, address))
        return collect(
            Telemetry,
            {
                "temperature": partial(dcmi.number, calls.TEMPERATURE, address, kind=ctypes.c_int),
                "memory_temperature": lambda: memory().temperature,
                "power": partial(figures.power, dcmi, place),
                "power_limit": partial(figures.rated_power, dcmi, place),
                "utilization": partial(figures.utilization, dcmi, address),
                "memory_bandwidth_utilization": lambda: figures.memory_bandwidth(
                    dcmi, address, memory(), self._in_virtual_machine
                ),
                "core_clock": partial(dcmi.number, calls.FREQUENCY, address, figures.CORE_CLOCK),
                "memory_clock": lambda: figures.memory_clock(dcmi, address, memory()),
                "memory_used": lambda: memory().used,
                "memory_total": lambda: memory().total,
                "throttle_reasons": partial(figures.throttle_reasons, dcmi, address),
            },
        )

    def details(self, board: BoardKey) -> BoardDetails:
        place = self._chip(board)
        dcmi, address = self._dcmi, place.address
        limits = Once(partial(figures.temperature_limits, dcmi, address))
        return collect(
            BoardDetails,
            {
                "part_number": lambda: text_of(label(dcmi, address).model),
                "firmware": partial(figures.firmware, dcmi, address),
                "node": partial(figures.physical_id, dcmi, address),
                "slowdown_temperature": lambda: limits()[0],
                "shutdown_temperature": lambda: limits()[1],
                "default_power_limit": partial(figures.rated_power, dcmi, place),
                "max_core_clock": partial(
                    dcmi.number, calls.FREQUENCY, address, figures.MAX_CORE_CLOCK
                ),
                "cpu_affinity": partial(figures.cpu_affinity, dcmi, place, self._host),
                "ecc": lambda: _flag(read_ecc(dcmi, address).enable_flag),
                "partitioned": partial(vnpu.is_cut, dcmi, place),
                "fabric": partial(figures.super_pod, dcmi, address),
            },
        )

    def memory_errors(self, board: BoardKey) -> MemoryErrors:
        place = self._chip(board)
        ecc = Once(partial(read_ecc, self._dcmi, place.address))

        def count(*names: str) -> int:
            return sum(known(getattr(ecc(), name)) for name in names)

        return collect(
            MemoryErrors,
            {
                "corrected": partial(count, "single_bit_error_cnt"),
                "uncorrected": partial(count, "double_bit_error_cnt"),
                "corrected_total": partial(count, "total_single_bit_error_cnt"),
                "uncorrected_total": partial(count, "total_double_bit_error_cnt"),
                "repaired": partial(
                    count, "single_bit_isolated_pages_cnt", "double_bit_isolated_pages_cnt"
                ),
                "repair_pending": lambda: bool(
                    count(
                        "single_bit_next_isolated_pages_cnt", "double_bit_next_isolated_pages_cnt"
                    )
                ),
            },
        )

    def pcie(self, board: BoardKey) -> PcieLink:
        place, host = self._chip(board), self._host
        return collect(
            PcieLink,
            {
                "generation": partial(pcie_generation, host, place, "current"),
                "max_generation": partial(pcie_generation, host, place, "max"),
                "lanes": partial(pcie_lanes, host, place, "current"),
                "max_lanes": partial(pcie_lanes, host, place, "max"),
                "replays": partial(pcie_replays, self._dcmi, place.address),
                "received": _not_measured,
                "sent": _not_measured,
            },
        )

    def health(self, board: BoardKey) -> HealthReport:
        address = self._board(board).address
        return judge(self._dcmi, address, partial(self.memory_errors, board))

    def links(self, board: BoardKey) -> Sequence[Link]:
        place = self._chip(board)
        return list(links(self._dcmi, place, self._brother(place)))

    def processes(self, board: BoardKey) -> Sequence[ProcessMemory]:
        place = self._board(board)
        if place.vnpu is not None:
            return ()  # the driver counts them for the whole chip
        return or_none(partial(figures.processes, self._dcmi, place.address)) or ()

    def partitions(self, board: BoardKey) -> Sequence[Partition]:
        place = self._board(board)
        return () if place.vnpu is not None else vnpu.partitions(self._dcmi, place)

    def partition_commands(self, board: BoardKey, profile: str) -> VendorCommands:
        return vnpu_commands.creation(self._chip(board).address, profile, v2=self._dcmi.v2)

    def removal_commands(self, partition: BoardKey) -> VendorCommands:
        place = self._board(partition)
        return vnpu_commands.removal(place.address, place.vnpu, v2=self._dcmi.v2)

    def relation(self, board: BoardKey, other: BoardKey) -> Relation | None:
        return relation(self._dcmi, self._board(board), self._board(other))

    def versions(self) -> Mapping[str, str]:
        texts = {
            "driver": or_none(partial(self._dcmi.text, calls.DRIVER_VERSION)),
            "library": or_none(partial(self._dcmi.text, calls.DCMI_VERSION)),
        }
        return {name: text for name, text in texts.items() if text is not None}

    def _board(self, key: BoardKey) -> Board:
        if key not in self._boards:
            self.boards()
        if key in self._boards:
            return self._boards[key]
        raise DeviceNotFoundError(
            f"npu: DCMI lists no board with the {key.source} {key.value}",
            backend="npu",
            operation="management",
            hint="take the key from accelhal.boards()",
        )

    def _chip(self, key: BoardKey) -> Board:
        """The whole chip, of a slice too."""
        board = self._board(key)
        parent = board.info.parent
        return board if parent is None else self._board(parent)

    def _brother(self, board: Board) -> BoardKey | None:
        """The other chip of the card."""
        others = {
            other.info.key
            for other in self._boards.values()
            if other.address.card == board.address.card
            and other.address != board.address
            and other.vnpu is None
        }
        return others.pop() if len(others) == 1 else None


def _flag(number: int) -> bool:
    if number not in (0, 1):
        raise NotReportedError(f"the driver answered {number}, neither on nor off")
    return number == 1


def _not_measured() -> NoReturn:
    raise NotReportedError("the driver counts no traffic: it measures for a while, and blocks")
