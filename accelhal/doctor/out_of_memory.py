"""torch's out-of-memory message as figures; every vendor's allocator writes it alike."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from accelhal.facts.byte_size import parse_size

_SIZE = r"(\d+(?:\.\d+)? (?:bytes|[KMGT]iB))"
_REFUSED = re.compile(rf"\b(?P<name>[A-Z]{{2,16}}) out of memory\. Tried to allocate {_SIZE}")
_INDEX = re.compile(r"\b[A-Z]{2,16} (\d+)(?: has a total|;)")

_TOTAL = re.compile(rf"total capaci?ty of {_SIZE}|{_SIZE} total capacity")  # 2.0 wrote "capacty"
_FREE = re.compile(rf"of which {_SIZE} is free|{_SIZE} free")
_ALLOCATED = re.compile(rf"{_SIZE} is allocated by PyTorch|{_SIZE} already allocated")
_UNUSED = re.compile(rf"{_SIZE} is reserved by PyTorch but unallocated")
_RESERVED = re.compile(rf"{_SIZE} reserved in total by PyTorch|{_SIZE} cached")
_ALLOWED = re.compile(rf"{_SIZE} allowed")
_OTHER = re.compile(rf"Process (\d+) has {_SIZE} memory in use")


@dataclass(frozen=True)
class OutOfMemory:
    """A request that an allocator refused, in bytes; None: the message does not say.

    Attributes:
        device_type: torch's word for the device, in small letters.
        index: torch's number of it.
        request: what was asked for.
        total: memory of the device as the process sees it.
        free: what nobody holds.
        allocated: held by the process's tensors.
        unused: held by the allocator for reuse.
        allowed: the process's cap.
        others: process -> what it holds.
        message: the line.
    """

    device_type: str
    index: int | None
    request: int
    total: int | None = None
    free: int | None = None
    allocated: int | None = None
    unused: int | None = None
    allowed: int | None = None
    others: tuple[tuple[int, int], ...] = ()
    message: str = ""


def read_out_of_memory(line: str) -> OutOfMemory | None:
    """The message in a line, in the words of torch 1.x or 2.x; None where there is none."""
    refused = _REFUSED.search(line)
    if refused is None:
        return None
    rest = line[refused.end() :]
    index = _INDEX.search(rest)
    allocated, unused, reserved = (_found(p, rest) for p in (_ALLOCATED, _UNUSED, _RESERVED))
    if unused is None and reserved is not None and allocated is not None:
        unused = max(0, reserved - allocated)
    return OutOfMemory(
        device_type=refused["name"].lower(),
        index=int(index[1]) if index else None,
        request=_bytes(refused[2]),
        total=_found(_TOTAL, rest),
        free=_found(_FREE, rest),
        allocated=allocated,
        unused=unused,
        allowed=_found(_ALLOWED, rest),
        others=tuple((int(pid), _bytes(size)) for pid, size in _OTHER.findall(rest)),
        message=line.strip(),
    )


def refusals(lines: Iterable[str]) -> list[OutOfMemory]:
    """The messages in the lines, the first of each device."""
    first: dict[tuple[str, int | None], OutOfMemory] = {}
    for line in lines:
        found = read_out_of_memory(line)
        if found is not None:
            first.setdefault((found.device_type, found.index), found)
    return list(first.values())


def _found(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    return None if found is None else _bytes(next(filter(None, found.groups())))


def _bytes(text: str) -> int:
    number = text.partition(" ")[0]
    return parse_size(text.replace("bytes", "b")) if float(number) * 1024 >= 1 else 0
