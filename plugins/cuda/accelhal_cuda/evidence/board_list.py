"""Reads `nvidia-smi -L`: the boards and their MIG instances by number, name and UUID."""

from __future__ import annotations

import re
from collections.abc import Sequence

from accelhal.drivers.readings import NotReportedError
from accelhal.facts import BoardInfo, BoardReading, Evidence, Partition
from accelhal.spi import EvidenceError, EvidenceReader, Section
from accelhal_cuda.evidence import words
from accelhal_cuda.evidence.board_names import board, slice_of
from accelhal_cuda.probe import VISIBLE_DEVICES

_TOOL = "nvidia-smi -L"
_BOARD = re.compile(r"GPU (\d{1,4}): (.+) \(UUID: ([^()]+)\)", re.ASCII)
_SLICE = re.compile(r"MIG (\S+)\s+Device\s+(\d{1,4}): \(UUID: ([^()]+)\)", re.ASCII)


def _begins(line: str) -> bool:
    return line.startswith("GPU ") and "(UUID: " in line


def _read(lines: Sequence[str]) -> Section:
    boards: list[BoardInfo] = []
    slices: list[list[tuple[BoardInfo, Partition]]] = []
    seen: set[str | None] = set()
    place = 0
    while place < len(lines):
        line = lines[place]
        if _begins(line):
            info = _board(line.strip(), place)
            if boards and _number(info) <= _number(boards[-1]):
                break  # another list
            boards.append(info)
            slices.append([])
        elif line.lstrip().startswith("MIG "):
            info, partition = _slice(line.strip(), place, boards[-1])
            if slices[-1] and _number(info) <= _number(slices[-1][-1][0]):
                raise EvidenceError(place, "MIG devices that are not in their order")
            slices[-1].append((info, partition))
        else:
            break
        if info.uuid in seen:
            raise EvidenceError(place, "two of one UUID")
        seen.add(info.uuid)
        place += 1
    readings: list[BoardReading] = []
    for info, cut in zip(boards, slices, strict=True):
        partitions = tuple(partition for _, partition in cut) or None
        readings.append(BoardReading(info, partitions=partitions))
        readings += [BoardReading(part) for part, _ in cut]
    return Section(Evidence("cuda", _TOOL, tuple(readings)), place)


def _number(info: BoardInfo) -> int:
    assert info.index is not None
    return info.index


def _board(text: str, place: int) -> BoardInfo:
    found = _BOARD.fullmatch(text)
    if found is None:
        raise EvidenceError(place, "not 'GPU number: name (UUID: …)'")
    try:
        return board(index=int(found[1]), name=words.name(found[2]), uuid=words.uuid(found[3]))
    except NotReportedError as reason:
        raise EvidenceError(place, f"no name and UUID of a board: {reason}") from None


def _slice(text: str, place: int, parent: BoardInfo) -> tuple[BoardInfo, Partition]:
    found = _SLICE.fullmatch(text)
    if found is None:
        raise EvidenceError(place, "not 'MIG profile Device number: (UUID: …)'")
    try:
        uuid = words.uuid(found[3])
    except NotReportedError as reason:
        raise EvidenceError(place, f"no UUID of a MIG device: {reason}") from None
    profile = found[1]
    # The driver's own name of a slice is made so.
    info = slice_of(parent, int(found[2]), name=f"{parent.name} MIG {profile}", uuid=uuid)
    assert info.key is not None
    assert parent.key is not None
    environment = {VISIBLE_DEVICES[0].variable: uuid}
    return info, Partition(info.key, parent.key, profile, environment=environment)


BOARD_LIST = EvidenceReader(_TOOL, _begins, _read)
