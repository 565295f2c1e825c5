"""The `nvidia-smi` table from release 384 to 610, with the tables below it."""

from __future__ import annotations

import pytest
from accelhal_cuda.evidence import READERS
from captured_samples.nvidia_smi import TABLE_384, TABLE_590, TABLE_610
from captured_samples.reading import only, read, refusal

from accelhal.facts import BoardKey, HealthStatus, ProcessMemory


def test_release_384() -> None:
    found = only(READERS, TABLE_384)
    assert dict(found.versions) == {"tool": "384.999", "driver": "384.999"}
    one, other = found.boards
    assert one.board.key == BoardKey("cuda", "pci", "0000:65:00.0")
    assert (one.board.name, one.board.index) == ("Toy P1000", 0)
    assert one.telemetry is not None
    assert (one.telemetry.temperature, one.telemetry.utilization) == (53, 5)
    assert (one.telemetry.power, one.telemetry.power_limit) == (None, None)
    assert one.telemetry.reasons["power"] == "Pwr:Usage: the tool prints 'ERR!'"
    assert one.telemetry.reasons["power_limit"] == "Pwr:Cap: the tool prints 'N/A'"
    assert one.telemetry.memory_used == 620 << 20
    assert one.health is None, "a sensor that is missing says nothing of the board"
    assert one.processes == (ProcessMemory(10001, 283 << 20), ProcessMemory(10002, 9 << 20))
    assert other.board.name == "Toy V100-PCIE-3..."
    assert other.memory_errors is not None
    assert other.memory_errors.uncorrected == 2
    assert other.health is not None
    assert other.health.status is HealthStatus.FAILED
    assert other.details is not None
    assert (other.details.persistence, other.details.ecc) == (True, True)
    assert other.details.compute_mode == "exclusive_process"
    assert other.details.reasons["*"] == "the page does not show it"
    assert other.processes is None, "not supported"


def test_slices_and_their_processes() -> None:
    board, first, second = only(READERS, TABLE_590).boards
    assert board.telemetry is not None
    assert board.telemetry.utilization is None
    assert board.telemetry.reasons["utilization"] == "GPU-Util: the tool prints 'N/A'"
    assert board.details is not None
    assert (board.details.partitioned, board.details.ecc) == (True, True)
    assert board.memory_errors is not None
    assert board.memory_errors.uncorrected is None
    assert board.processes == ()
    assert [part.board.index for part in (first, second)] == [0, 1]
    assert [part.board.parent for part in (first, second)] == [board.board.key] * 2
    assert first.board.total_memory == 40448 << 20
    assert first.telemetry is not None
    assert first.telemetry.memory_used == 11091 << 20
    assert first.processes == (ProcessMemory(10001, 2296 << 20),)
    assert second.processes == ()


def test_the_narrow_table_of_slices() -> None:
    text = TABLE_590.replace("Shared Memory-Usage", "       Memory-Usage")
    assert len(only(READERS, text).boards) == 3


def test_no_slices_yet() -> None:
    lines = TABLE_590.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("|  0    2   0   0"))
    lines[start : start + 6] = ["|  No MIG devices found  |", lines[start + 2]]
    found = only(READERS, "\n".join(lines[: start + 2]))
    assert [reading.board.parent for reading in found.boards] == [None]


def test_release_610_and_a_lost_board() -> None:
    found = only(READERS, TABLE_610)
    assert dict(found.versions) == {
        "tool": "610.99.04",
        "driver": "610.99.04",
        "toolkit": "13.3",
    }
    one, lost = found.boards
    assert one.telemetry is not None
    assert (one.telemetry.power, one.telemetry.power_limit) == (None, 130)
    assert one.details is not None
    assert one.details.partitioned is None
    assert (one.processes, lost.processes) == ((), ())
    assert (lost.board.name, lost.board.pci) == ("", "0000:02:00.0")
    assert lost.telemetry is not None
    assert lost.telemetry.reasons["memory_used"] == "Memory-Usage: the tool prints 'GPU is lost'"
    assert lost.health is not None
    assert lost.health.status is HealthStatus.FAILED
    assert lost.health.checks[0].value == "GPU is lost"


def test_windows_shows_its_driver_model_instead_of_persistence() -> None:
    text = TABLE_384.replace("Persistence-M|", "     TCC/WDDM |").replace(
        "Off  | 0000", "WDDM | 0000"
    )
    one, _ = only(READERS, text).boards
    assert one.details is not None
    assert one.details.persistence is None
    assert "persistence" not in one.details.reasons


def test_a_table_without_processes_below() -> None:
    text = TABLE_384.partition("\n\n")[0]
    assert [reading.processes for reading in only(READERS, text).boards] == [None, None]


def test_a_version_that_the_tool_could_not_tell() -> None:
    text = TABLE_590.replace("CUDA Version: 13.1", "CUDA Version: ERR!")
    assert "toolkit" not in only(READERS, text).versions


def cut(text: str, lines: int) -> str:
    return "\n".join(text.splitlines()[:lines])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (cut(TABLE_384, 2), "cut off"),
        (cut(TABLE_384, 6), "without boards"),
        (cut(TABLE_384, 7), "cut off"),
        (cut(TABLE_384, 8), "cut off"),
        (cut(TABLE_384, 12) + "\n...", "cut off"),
        (cut(TABLE_384, 14), "cut off"),
        (cut(TABLE_384, 18), "cut off"),
        (cut(TABLE_590, 10), "cut off"),
        (cut(TABLE_590, 20), "cut off"),
        (TABLE_384.replace("Bus-Id ", "Bus    "), "columns"),
        (TABLE_384.replace("GPU-Util", "GPU-Lazy"), "columns"),
        (TABLE_590.replace("MIG M.", "MIG N."), "columns"),
        (TABLE_590.replace("GPU  GI  CI  MIG", "GPU  GI  CI  MAG"), "columns of MIG"),
        (TABLE_384.replace("PID   Type", "PID   Kind"), "columns of processes"),
        (TABLE_384.replace("Driver Version", "Divers Version"), "header"),
        (TABLE_384.replace("|    620MiB", "     620MiB"), "2 cells"),
        (TABLE_384.replace("|   0  Toy", "|   x  Toy"), "number"),
        (TABLE_384.replace("|   1  Toy", "|   0  Toy"), "one number"),
        (TABLE_384.replace("|    0     10001", "|    7     10001"), "GPU 7"),
        (TABLE_384.replace("|    0     10001", "|    0     many "), "numbers of a process"),
        (TABLE_590.replace("|  0    3   0   1", "|  4    3   0   1"), "GPU 4"),
        (TABLE_590.replace("|  0    3   0   1", "|  0    3   0   0"), "two slices 0"),
        (TABLE_590.replace("|  0    3   0   1", "|  0    3   0   x"), "numbers of a MIG"),
    ],
)
def test_tables_that_are_refused(text: str, reason: str) -> None:
    assert reason in refusal(READERS, text)


@pytest.mark.parametrize(
    ("old", "new", "field", "reason"),
    [
        ("620MiB /", "620GiB /", "memory_used", "Memory-Usage: the tool prints '620GiB'"),
        ("620MiB /", "0.5MiB /", "memory_used", "Memory-Usage: the tool prints '0.5MiB'"),
        ("53C", "53F", "temperature", "Temp: the tool prints '53F'"),
        ("  5% ", "500% ", "utilization", "the driver answered 500, which is no utilization"),
    ],
)
def test_cells_that_are_no_figures(old: str, new: str, field: str, reason: str) -> None:
    assert old in TABLE_384
    one, _ = only(READERS, TABLE_384.replace(old, new)).boards
    assert one.telemetry is not None
    assert getattr(one.telemetry, field) is None
    assert one.telemetry.reasons[field] == reason


def test_the_next_table_is_read_after_a_refused_one() -> None:
    found = read(READERS, f"{cut(TABLE_384, 8)}\n{TABLE_610}")
    assert [len(section.evidence.boards) for section in found.sections] == [2]
