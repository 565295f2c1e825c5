"""The pages of `cnmon info`: indented lines "key : value" under each card."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from accelhal.drivers.printed import MEBIBYTE, count, not_shown, number, pci_address, shown, word
from accelhal.drivers.readings import first, or_none
from accelhal.facts import (
    BoardDetails,
    BoardReading,
    HealthCheck,
    HealthReport,
    HealthStatus,
    ProcessMemory,
    Telemetry,
)
from accelhal.spi import EvidenceError, EvidenceReader, Section
from accelhal_cambricon.cndev_boards import bare_uuid
from accelhal_cambricon.cndev_figures import COMPUTE_MODES
from accelhal_cambricon.cndev_health import DRIVER_STATES, VERDICTS
from accelhal_cambricon.evidence.cards import card, evidence, version
from accelhal_cambricon.evidence.processes import memory_of

_PAGE = "cnmon info"

_BANNER = re.compile(r"={4,}\s{0,8}CNMON\s{1,8}(\S{1,40}?)\s{0,8}={4,}")
_CARD = re.compile(r"Card (\d{1,5})", re.ASCII)
_SEPARATOR = " :"

_NAME, _UUID, _FIRMWARE = "Product Name", "UUID", "Firmware"
_DRIVER, _MODE = "Driver", "Compute Mode"
_HEALTH, _UTILIZATION, _TEMPERATURE = "Health State", "Utilization", "Temperature"
_MEMORY, _POWER, _PCI, _PROCESSES = "Physical Memory Usage", "Power", "PCI", "Processes"
"""Keys of a card, and of the parts that have keys of their own."""

_WORDS = {"device": VERDICTS, "driver": DRIVER_STATES}
"""Check -> what the driver answers, with cnmon's words for it (it writes them with capitals)."""

_UUID_TEXT = re.compile(r"[0-9A-Za-z]{4,}(?:-[0-9A-Za-z]{1,20}){1,8}", re.ASCII)
_HEXADECIMAL = re.compile(r"(?:0x)?([0-9a-f]{1,8})", re.IGNORECASE | re.ASCII)

_MAX_PID = (1 << 31) - 1

_MAX_CARDS = 64
"""More than any host has."""

_Values = Mapping[tuple[str, ...], str]
"""Keys from the outermost on -> value."""


class _Card:
    """The lines of one card."""

    def __init__(self, number: int, line: int) -> None:
        self.number = number
        self.line = line
        self.values: dict[tuple[str, ...], str] = {}
        self._open: list[tuple[int, str]] = []

    def take(self, line: str, place: int) -> bool:
        """Adds a line; False where it is none of a card's."""
        indent = len(line) - len(line.lstrip())
        key, separator, value = line.partition(_SEPARATOR)
        key = key.strip()
        if not indent or not separator or not key:
            return False
        while self._open and self._open[-1][0] >= indent:
            self._open.pop()
        self._open.append((indent, key))
        path = tuple(name for _, name in self._open)
        if key == "Process" and path[:-1] == (_PROCESSES,):
            # Each process has the same keys: its number tells them apart.
            self._open[-1] = (indent, f"{key} {value.strip()}")
            path = (_PROCESSES, f"{key} {value.strip()}")
        if path in self.values:
            raise EvidenceError(place, f"card {self.number}: {key} stands twice")
        self.values[path] = value.strip()
        return True


def _begins(line: str) -> bool:
    text = line.rstrip()
    return text.startswith(("Card ", "====")) and bool(
        _CARD.fullmatch(text) or _BANNER.fullmatch(text)
    )


def _read(lines: Sequence[str]) -> Section:
    versions: dict[str, str] = {}
    banner = _BANNER.fullmatch(lines[0].rstrip())
    if banner is not None:
        tool = or_none(partial(version, banner[1]))
        versions.update({} if tool is None else {"tool": tool})
    cards, end = _cards(lines, 1 if banner else 0)
    if not cards:
        raise EvidenceError(end - 1, "it tells of no card")
    for found in cards:
        if (_NAME,) not in found.values and (_DRIVER,) not in found.values:
            raise EvidenceError(found.line, f"it says nothing of card {found.number}")
    drivers = {or_none(partial(version, found.values.get((_DRIVER,), ""))) for found in cards}
    if len(drivers) == 1 and (driver := drivers.pop()) is not None:
        versions["driver"] = driver
    boards = _without_shared_uuids([_reading(found) for found in cards])
    return Section(evidence(_PAGE, boards, versions, _notes(cards)), end)


def _cards(lines: Sequence[str], start: int) -> tuple[list[_Card], int]:
    """The cards that follow one another, and the line after them."""
    found: list[_Card] = []
    seen: set[int] = set()
    end = start
    for place in range(start, len(lines)):
        line = lines[place].expandtabs().rstrip()
        if not line:
            continue
        head = _CARD.fullmatch(line)
        if head is not None:
            number = int(head[1])
            if number in seen or len(found) == _MAX_CARDS:
                break  # another print
            seen.add(number)
            found.append(_Card(number, place))
        elif not found or not found[-1].take(line, place):
            break
        end = place + 1
    return found, max(end, 1)


def _reading(found: _Card) -> BoardReading:
    values = found.values
    sensors = _facts(Telemetry, _sensors(values))
    return BoardReading(
        board=card(
            found.number,
            name=or_none(partial(word, values.get((_NAME,), ""))) or "",
            uuid=or_none(partial(_uuid, values.get((_UUID,), ""))),
            pci=or_none(partial(_bus, values)),
            total_memory=None if sensors is None else sensors.memory_total,
        ),
        details=_facts(BoardDetails, _details(values)),
        telemetry=sensors,
        health=_health(values),
        processes=tuple(_processes(found)) if (_PROCESSES,) in values else None,
    )


def _facts(kind: type[Any], readers: Mapping[str, Callable[[], Any]]) -> Any:
    """Those of a kind, or None where the card has no such figure."""
    return shown(kind, readers, _PAGE) if readers else None


def _sensors(values: _Values) -> dict[str, Callable[[], Any]]:
    figures: Mapping[str, tuple[Sequence[tuple[str, str]], str]] = {
        "temperature": (((_TEMPERATURE, "Chip"), (_TEMPERATURE, "Board")), "C"),
        "memory_temperature": (((_TEMPERATURE, "Memory"),), "C"),
        "power": (((_POWER, "Usage"),), "W"),
        "power_limit": (((_POWER, "Cap"),), "W"),
        "utilization": (((_UTILIZATION, "MLU Average"),), "%"),
    }
    readers: dict[str, Callable[[], Any]] = {
        field: partial(first, *(partial(number, values[key], unit) for key in present))
        for field, (keys, unit) in figures.items()
        if (present := [key for key in keys if key in values])
    }
    for field, key in (("memory_used", "Used"), ("memory_total", "Total")):
        if (_MEMORY, key) in values:
            readers[field] = partial(_memory, values, key)
    return readers


def _memory(values: _Values, key: str) -> int:
    """Bytes; a board has memory, and no more of it in use than it has."""
    size = count(values[_MEMORY, key], "MiB")
    total = or_none(partial(count, values.get((_MEMORY, "Total"), ""), "MiB"))
    if total == 0 or (total is not None and size > total):
        raise not_shown(values[_MEMORY, key])
    return size * MEBIBYTE


def _details(values: _Values) -> dict[str, Callable[[], Any]]:
    readers: dict[str, Callable[[], Any]] = {}
    if (_FIRMWARE,) in values:
        readers["firmware"] = partial(version, values[(_FIRMWARE,)])
    if (_MODE,) in values:
        readers["compute_mode"] = partial(_compute_mode, values[(_MODE,)])
    return readers


def _compute_mode(text: str) -> str:
    if text.lower() not in COMPUTE_MODES:
        raise not_shown(text)
    return text.lower()


def _uuid(text: str) -> str:
    found = bare_uuid(text)
    if _UUID_TEXT.fullmatch(found) is None:
        raise not_shown(text)
    return found


def _without_shared_uuids(boards: Sequence[BoardReading]) -> list[BoardReading]:
    """One that two boards share is none, as in live reading."""
    told = Counter(reading.board.uuid for reading in boards)
    return [
        reading
        if told[reading.board.uuid] == 1
        else replace(reading, board=replace(reading.board, uuid=None))
        for reading in boards
    ]


def _bus(values: _Values) -> str:
    """The address; all its parts are printed in hexadecimal."""
    parts = [
        _HEXADECIMAL.fullmatch(values.get((_PCI, key), ""))
        for key in ("Domain ID", "Bus num", "Device", "Function")
    ]
    if any(part is None for part in parts):
        raise not_shown("")
    domain, bus, device, function = (int(part[1], 16) for part in parts if part is not None)
    return pci_address(f"{domain:04x}:{bus:02x}:{device:02x}.{function:x}")


def _health(values: _Values) -> HealthReport | None:
    checks = [
        _check(name, values[_HEALTH, name.capitalize()])
        for name in _WORDS
        if (_HEALTH, name.capitalize()) in values
    ]
    return HealthReport.of(checks) if checks else None


def _check(name: str, text: str) -> HealthCheck:
    known = {value: status for status, value in _WORDS[name].values()}
    value = text.lower()
    if value in known:
        return HealthCheck(name, known[value], value)
    return HealthCheck(name, HealthStatus.UNKNOWN, None, f"the tool prints {text[:40]!r}")


def _processes(found: _Card) -> Iterator[ProcessMemory]:
    for path in found.values:
        if len(path) != 2 or path[0] != _PROCESSES:
            continue
        pid = or_none(partial(count, found.values.get((*path, "PID"), "")))
        if pid is None or not 0 < pid <= _MAX_PID:
            raise EvidenceError(found.line, f"card {found.number}: a process that cannot be read")
        yield ProcessMemory(pid, memory_of(found.values.get((*path, "MLU Memory Usage"), "")))


# Free is what Total leaves of Used.
_READ = frozenset(
    {
        *((key,) for key in (_NAME, _UUID, _FIRMWARE, _DRIVER, _MODE)),
        *((_HEALTH, "Device"), (_HEALTH, "Driver"), (_UTILIZATION, "MLU Average")),
        *((_TEMPERATURE, key) for key in ("Board", "Chip", "Memory")),
        *((_MEMORY, key) for key in ("Total", "Used", "Free")),
        *((_POWER, "Usage"), (_POWER, "Cap")),
        *((_PCI, key) for key in ("Domain ID", "Bus num", "Device", "Function")),
    }
)


def _notes(cards: Sequence[_Card]) -> list[str]:
    """The sections and keys that are not read."""
    paths = [
        path
        for found in cards
        for path, value in found.values.items()
        if path not in _READ and path[0] != _PROCESSES and value
    ]
    others = dict.fromkeys(
        path[0] if len(path) == 1 else f"{path[0]}: {path[-1]}" for path in paths
    )
    return [f"{_PAGE} also shows {', '.join(others)}."] if others else []


DETAILS = EvidenceReader(_PAGE, _begins, _read)
