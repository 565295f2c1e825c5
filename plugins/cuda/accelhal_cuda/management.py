"""Management over NVML: boards and their MIG slices, sensors, health, links, processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pynvml

from accelhal.drivers.readings import NotReportedError, Once, collect, first
from accelhal.errors import AccelhalError, DeviceNotFoundError, described
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
from accelhal.spi import Management
from accelhal_cuda.mig_commands import creation, removal
from accelhal_cuda.nvml import ask, bits, cpu_words, field, start
from accelhal_cuda.nvml_figures import (
    SOURCE,
    board_count,
    board_info,
    compute_mode,
    fabric,
    memory,
    named_reasons,
    or_none,
    retired,
    slice_handles,
    temperature,
    throttle_bits,
)
from accelhal_cuda.nvml_health import judge, silent
from accelhal_cuda.nvml_links import links_of
from accelhal_cuda.nvml_sources import SOURCES

_MEMORY_TEMPERATURE = 82
"""NVML_FI_DEV_MEMORY_TEMP"""

_RELATIONS = {
    0: Relation.BOARD,
    10: Relation.PIX,
    20: Relation.PXB,
    30: Relation.PHB,
    40: Relation.NODE,
    50: Relation.SYS,
}
"""nvmlGpuTopologyLevel_t"""

_COMPUTE_SLICES = 7
"""Compute slices of a board that MIG cuts; NVIDIA MIG User Guide, "Concepts"."""


class NvmlManagement(Management):
    """The boards of NVIDIA's driver, each with its MIG slices behind it.

    Raises:
        BackendLoadError: the library does not load, or its driver is not there.
    """

    sources = SOURCES

    def __init__(self) -> None:
        start()
        self._handles: dict[BoardKey, Any] = {}
        self._addresses: dict[str | None, BoardKey] = {}
        self._parents: dict[BoardKey, str] = {}  # slice -> its board's UUID

    def boards(self) -> Sequence[BoardInfo]:
        found = []
        for index in range(board_count()):
            board, handle = self._board(index)
            found.append(board)
            if board.key is not None and handle is not None:
                self._handles.update(dict.fromkeys(_names(board), handle))
                self._addresses[board.pci] = board.key
                found += self._slices(board, handle)
        return found

    def telemetry(self, board: BoardKey) -> Telemetry:
        handle = self._handle(board)
        rates = Once(partial(ask, pynvml.nvmlDeviceGetUtilizationRates, handle))
        held = Once(partial(memory, handle))
        clock = partial(ask, pynvml.nvmlDeviceGetClockInfo, handle)
        return collect(
            Telemetry,
            {
                "temperature": lambda: temperature(handle),
                "memory_temperature": lambda: field(handle, _MEMORY_TEMPERATURE),
                "power": lambda: ask(pynvml.nvmlDeviceGetPowerUsage, handle) / 1000,
                "power_limit": lambda: ask(pynvml.nvmlDeviceGetEnforcedPowerLimit, handle) / 1000,
                "utilization": lambda: rates().gpu,
                "memory_bandwidth_utilization": lambda: rates().memory,
                "core_clock": lambda: clock(pynvml.NVML_CLOCK_SM),
                "memory_clock": lambda: clock(pynvml.NVML_CLOCK_MEM),
                "memory_used": lambda: held().used,
                "memory_total": lambda: held().total,
                "throttle_reasons": lambda: named_reasons(throttle_bits(handle)),
            },
        )

    def details(self, board: BoardKey) -> BoardDetails:
        handle = self._handle(board)
        limit = partial(ask, pynvml.nvmlDeviceGetTemperatureThreshold, handle)
        clock = partial(ask, pynvml.nvmlDeviceGetMaxClockInfo, handle)
        words = cpu_words()
        return collect(
            BoardDetails,
            {
                "part_number": lambda: ask(pynvml.nvmlDeviceGetBoardPartNumber, handle),
                "firmware": lambda: ask(pynvml.nvmlDeviceGetVbiosVersion, handle),
                "node": lambda: ask(pynvml.nvmlDeviceGetMinorNumber, handle),
                "slowdown_temperature": lambda: limit(pynvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN),
                "shutdown_temperature": lambda: limit(pynvml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN),
                "default_power_limit": lambda: (
                    ask(pynvml.nvmlDeviceGetPowerManagementDefaultLimit, handle) / 1000
                ),
                "max_core_clock": lambda: clock(pynvml.NVML_CLOCK_SM),
                "max_memory_clock": lambda: clock(pynvml.NVML_CLOCK_MEM),
                "cpu_affinity": lambda: bits(ask(pynvml.nvmlDeviceGetCpuAffinity, handle, words)),
                "ecc": lambda: bool(ask(pynvml.nvmlDeviceGetEccMode, handle)[0]),
                "persistence": lambda: bool(ask(pynvml.nvmlDeviceGetPersistenceMode, handle)),
                "compute_mode": lambda: compute_mode(handle),
                "partitioned": lambda: bool(ask(pynvml.nvmlDeviceGetMigMode, handle)[0]),
                "fabric": lambda: fabric(handle),
            },
        )

    def memory_errors(self, board: BoardKey) -> MemoryErrors:
        handle = self._handle(board)
        ecc = partial(ask, pynvml.nvmlDeviceGetTotalEccErrors, handle)
        corrected = pynvml.NVML_MEMORY_ERROR_TYPE_CORRECTED
        uncorrected = pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED
        since_load, in_life = pynvml.NVML_VOLATILE_ECC, pynvml.NVML_AGGREGATE_ECC
        rows = Once(partial(ask, pynvml.nvmlDeviceGetRemappedRows, handle))
        pages_pending = partial(ask, pynvml.nvmlDeviceGetRetiredPagesPendingStatus, handle)
        return collect(
            MemoryErrors,
            {
                "corrected": lambda: ecc(corrected, since_load),
                "uncorrected": lambda: ecc(uncorrected, since_load),
                "corrected_total": lambda: ecc(corrected, in_life),
                "uncorrected_total": lambda: ecc(uncorrected, in_life),
                # Ampere and later remap rows, earlier boards retire pages.
                "repaired": lambda: first(lambda: sum(rows()[:2]), lambda: retired(handle)),
                "repair_pending": lambda: bool(first(lambda: rows()[2], pages_pending)),
                "repair_failed": lambda: bool(rows()[3]),
            },
        )

    def pcie(self, board: BoardKey) -> PcieLink:
        handle = self._handle(board)
        traffic = partial(ask, pynvml.nvmlDeviceGetPcieThroughput, handle)
        return collect(
            PcieLink,
            {
                "generation": lambda: ask(pynvml.nvmlDeviceGetCurrPcieLinkGeneration, handle),
                "max_generation": lambda: ask(pynvml.nvmlDeviceGetMaxPcieLinkGeneration, handle),
                "lanes": lambda: ask(pynvml.nvmlDeviceGetCurrPcieLinkWidth, handle),
                "max_lanes": lambda: ask(pynvml.nvmlDeviceGetMaxPcieLinkWidth, handle),
                "replays": lambda: ask(pynvml.nvmlDeviceGetPcieReplayCounter, handle),
                # NVML counts KB/s.
                "received": lambda: 1000.0 * traffic(pynvml.NVML_PCIE_UTIL_RX_BYTES),
                "sent": lambda: 1000.0 * traffic(pynvml.NVML_PCIE_UTIL_TX_BYTES),
            },
        )

    def health(self, board: BoardKey) -> HealthReport:
        try:
            handle = self._handle(board)
            return judge(handle, self.memory_errors(board), self.links(board))
        except AccelhalError as error:
            return silent(error)

    def links(self, board: BoardKey) -> Sequence[Link]:
        return list(links_of(self._handle(board), self._addresses))

    def processes(self, board: BoardKey) -> Sequence[ProcessMemory]:
        try:
            found = ask(pynvml.nvmlDeviceGetComputeRunningProcesses, self._handle(board))
        except NotReportedError:
            return ()
        return [ProcessMemory(process.pid, process.usedGpuMemory) for process in found]

    def partitions(self, board: BoardKey) -> Sequence[Partition]:
        found = []
        for handle in slice_handles(self._handle(board)):
            uuid = ask(pynvml.nvmlDeviceGetUUID, handle)
            shares = ask(pynvml.nvmlDeviceGetAttributes_v2, handle)
            gigabytes = round(shares.memorySizeMB / 1024)
            found.append(
                Partition(
                    key=BoardKey("cuda", "uuid", uuid),
                    parent=board,
                    profile=f"{shares.gpuInstanceSliceCount}g.{gigabytes}gb",
                    total_memory=shares.memorySizeMB << 20,
                    compute_share=shares.computeInstanceSliceCount / _COMPUTE_SLICES,
                    environment={"CUDA_VISIBLE_DEVICES": uuid},
                )
            )
        return found

    def partition_commands(self, board: BoardKey, profile: str) -> VendorCommands:
        handle = self._handle(board)
        mode = or_none(pynvml.nvmlDeviceGetMigMode, handle)
        if mode is None:
            return VendorCommands(
                notes=("this board cannot be cut: NVML reports no MIG mode of it",)
            )
        return creation(ask(pynvml.nvmlDeviceGetUUID, handle), profile, is_on=bool(mode[0]))

    def removal_commands(self, partition: BoardKey) -> VendorCommands:
        handle = self._handle(partition)
        if partition not in self._parents:
            return VendorCommands(notes=(f"{partition.value} is a whole board, not a slice",))
        numbers = (
            ask(pynvml.nvmlDeviceGetGpuInstanceId, handle),
            ask(pynvml.nvmlDeviceGetComputeInstanceId, handle),
        )
        return removal(self._parents[partition], *numbers)

    def relation(self, board: BoardKey, other: BoardKey) -> Relation | None:
        handles = self._handle(board), self._handle(other)
        try:
            return _RELATIONS.get(ask(pynvml.nvmlDeviceGetTopologyCommonAncestor, *handles))
        except NotReportedError:
            return None

    def versions(self) -> Mapping[str, str]:
        cuda = ask(pynvml.nvmlSystemGetCudaDriverVersion_v2)
        return {
            "driver": ask(pynvml.nvmlSystemGetDriverVersion),
            "library": ask(pynvml.nvmlSystemGetNVMLVersion),
            "toolkit": f"{cuda // 1000}.{cuda % 1000 // 10}",
        }

    def close(self) -> None:
        ask(pynvml.nvmlShutdown)

    def _board(self, index: int) -> tuple[BoardInfo, Any]:
        """The board of that number; one that does not answer is listed by its number alone."""
        try:
            handle = ask(pynvml.nvmlDeviceGetHandleByIndex, index)
            uuid = ask(pynvml.nvmlDeviceGetUUID, handle)
            return board_info(handle, BoardKey("cuda", "uuid", uuid), index), handle
        except (AccelhalError, NotReportedError) as error:
            key = BoardKey("cuda", "logic-id", str(index))
            name = f"a board that does not answer: {described(error)}"
            return BoardInfo(key, "NVIDIA", name, "cuda", SOURCE, index=index), None

    def _slices(self, board: BoardInfo, parent: Any) -> list[BoardInfo]:
        found = []
        for handle in slice_handles(parent):
            key = BoardKey("cuda", "uuid", ask(pynvml.nvmlDeviceGetUUID, handle))
            self._handles[key] = handle
            self._parents[key] = str(board.uuid)
            found.append(board_info(handle, key, None, board))
        return found

    def _handle(self, key: BoardKey) -> Any:
        if key not in self._handles:
            self.boards()
        if key in self._handles:
            return self._handles[key]
        if key.source == "logic-id":  # it did not answer when the boards were listed
            handle = ask(pynvml.nvmlDeviceGetHandleByIndex, int(key.value))
            ask(pynvml.nvmlDeviceGetUUID, handle)
            return handle
        raise DeviceNotFoundError(
            f"cuda: NVML lists no board with the {key.source} {key.value}",
            backend="cuda",
            operation="management",
            hint="take the key from accelhal.boards()",
        )


def _names(board: BoardInfo) -> Iterator[BoardKey]:
    """Every key that a Runtime may have traced a device to the board by."""
    yield BoardKey("cuda", "uuid", str(board.uuid))
    yield BoardKey("cuda", "pci", str(board.pci))
    yield BoardKey("cuda", "visible-order", str(board.index))
