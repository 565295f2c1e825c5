"""`df`: the size of /dev/shm."""

from __future__ import annotations

import re
from collections.abc import Sequence

from accelhal.evidence.host_pages.page import HostPage, Shown, of_record

_HEAD = re.compile(r"^Filesystem\s+(?P<unit>Size|1K-blocks|1024-blocks|1M-blocks)\s+Used\s.*$")
_LINE = re.compile(
    r"^\S+\s+(?P<size>[0-9]+(?:\.[0-9]+)?)(?P<unit>[KMGTP]?)\s+\S+\s+\S+\s+\S+\s+(?P<where>/\S*)$"
)
_SHARED = "/dev/shm"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}
_BLOCKS = {"Size": 1, "1K-blocks": 1 << 10, "1024-blocks": 1 << 10, "1M-blocks": 1 << 20}


def _read(lines: Sequence[str]) -> Shown | None:
    head = _HEAD.match(lines[0])
    if head is None:
        return None
    place, shared = 1, None
    while place < len(lines) and (found := _LINE.match(lines[place])):
        if found["where"] == _SHARED:
            shared = int(float(found["size"]) * _UNITS[found["unit"]] * _BLOCKS[head["unit"]])
        place += 1
    return of_record(place, shared_memory=shared)


PAGE = HostPage("df", lambda line: _HEAD.match(line) is not None, _read)
