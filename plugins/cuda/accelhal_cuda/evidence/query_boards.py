"""From the pages of `nvidia-smi -q`, in XML or in text, to boards and their slices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from accelhal.drivers.printed import count
from accelhal.drivers.readings import NotReportedError
from accelhal.facts import BoardReading, Evidence, ProcessMemory
from accelhal.spi import EvidenceError
from accelhal_cuda.evidence import words
from accelhal_cuda.evidence.board_names import board, require_distinct, slice_of
from accelhal_cuda.evidence.pages import Page, node, value
from accelhal_cuda.evidence.query_figures import details, identity, pcie, telemetry
from accelhal_cuda.evidence.query_health import health
from accelhal_cuda.evidence.query_memory_errors import memory_errors

Value = TypeVar("Value")

_VERSIONS = {
    "driver": ("kmd_version", "driver_version", "KMD Version", "Driver Version"),
    "toolkit": ("cuda_umd_version", "cuda_version", "CUDA UMD Version", "CUDA Version"),
}
_ATTACHED = ("attached_gpus", "Attached GPUs")
_SLICES = ("mig_devices/mig_device", "MIG Device")
_PROCESSES = ("processes", "Processes")

_INDEX = ("index", "Index")
_GPU_INSTANCE = ("gpu_instance_id", "GPU Instance ID", "GPU instance ID")
_COMPUTE_INSTANCE = ("compute_instance_id", "Compute Instance ID", "Compute instance ID")
_PID = ("pid", "Process ID")
_USED = ("used_memory", "Process ID/Used GPU Memory")


@dataclass(frozen=True)
class BoardPage:
    """What the tool says of one board.

    Attributes:
        address: its PCI address, as the kernel writes it.
        page: the rest.
    """

    address: str
    page: Page


@dataclass
class _Processes:
    """Processes of a board and, where it is cut, of its slices by their instances' numbers."""

    board: list[ProcessMemory] = field(default_factory=list)
    slices: dict[tuple[int, int], list[ProcessMemory]] = field(default_factory=dict)


def evidence(source: str, header: Page, boards: Sequence[BoardPage]) -> Evidence:
    """What the pages show.

    Raises:
        EvidenceError: they contradict each other.
    """
    attached = _said(header, _ATTACHED, count)
    if attached is not None and len(boards) > attached:
        raise EvidenceError(boards[-1].page.line, f"board {len(boards)} of {attached}")
    # With -i the tool shows some of the boards and does not number them.
    numbered = len(boards) == attached
    readings: list[BoardReading] = []
    for place, found in enumerate(boards):
        readings += _read(found, place if numbered else None)
    require_distinct(readings, [found.page.line for found in boards])
    versions = {name: _said(header, paths, words.version) for name, paths in _VERSIONS.items()}
    return Evidence(
        backend="cuda",
        source=source,
        boards=tuple(readings),
        versions={name: found for name, found in versions.items() if found is not None},
    )


def _read(found: BoardPage, index: int | None) -> Iterator[BoardReading]:
    page = found.page
    info = board(pci=found.address, index=index, **identity(page))
    sensors, errors = telemetry(page), memory_errors(page)
    processes = _processes(page)
    slices = [part for path in _SLICES for part in _every(page, path)]
    yield BoardReading(
        board=info,
        details=details(page),
        telemetry=sensors,
        health=health(page, sensors, errors),
        memory_errors=errors,
        pcie=pcie(page),
        processes=None if processes is None else tuple(processes.board),
    )
    for part in slices:
        number = _said(part, _INDEX, count)
        if number is None:
            raise EvidenceError(part.line, f"a {part.name} without its number")
        said = identity(part)
        instances = _instances(part)
        yield BoardReading(
            board=slice_of(info, number, uuid=said["uuid"], total_memory=said["total_memory"]),
            telemetry=telemetry(part),
            processes=None
            if processes is None or instances is None
            else tuple(processes.slices.get(instances, ())),
        )


def _processes(page: Page) -> _Processes | None:
    """None where the page does not show them."""
    listed = node(page, _PROCESSES)
    if listed is None or (not listed.parts and listed.value not in ("", "None")):
        return None
    found = _Processes()
    for process in _each_process(listed):
        pid = _said(process, _PID, words.process)
        if pid is None:
            raise EvidenceError(process.line, "a process without its number")
        used = _said(process, _USED, words.memory)
        instances = _instances(process)
        held = found.board if instances is None else found.slices.setdefault(instances, [])
        held.append(ProcessMemory(pid, used))
    return found


def _each_process(listed: Page) -> Iterator[Page]:
    """XML nests the lines of a process; in text they follow one another, its number last."""
    process = Page(listed.name, line=listed.line)
    for part in listed.parts:
        if part.name == "process_info":
            yield part
            continue
        process.parts.append(part)
        if part.name in _PID:
            yield process
            process = Page(listed.name, line=part.line)
    if process.parts:
        yield process


def _instances(page: Page) -> tuple[int, int] | None:
    """Numbers of the GPU instance and the compute instance that a page is about."""
    gpu = _said(page, _GPU_INSTANCE, count)
    compute = _said(page, _COMPUTE_INSTANCE, count)
    return None if gpu is None or compute is None else (gpu, compute)


def _every(page: Page, path: str) -> list[Page]:
    *steps, last = path.split("/")
    above = node(page, ["/".join(steps)]) if steps else page
    return [] if above is None else above.all(last)


def _said(page: Page, paths: Sequence[str], read: Callable[[str], Value]) -> Value | None:
    try:
        return value(page, paths, read)
    except NotReportedError:
        return None
