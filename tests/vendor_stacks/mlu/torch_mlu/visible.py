"""Which of the host's boards this process sees, as torch_mlu reads its three variables."""

from __future__ import annotations

import re
from collections.abc import Mapping

VARIABLES = ("CN_VISIBLE_DEVICES", "MLU_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
"""The first one that is set wins."""

_UUID_LENGTH = 36


def board_uuid(number: int) -> str:
    """The UUID by which the driver knows a board of the host."""
    return f"33033011-2157-0000-0000-{number:012d}"


def visible_boards(environ: Mapping[str, str], count: int) -> tuple[int, ...]:
    """The driver's numbers of the boards that are seen, in torch's order.

    What is no board ends the list; a board named twice hides all.
    """
    text = next((environ[name] for name in VARIABLES if name in environ), None)
    if text is None:
        return tuple(range(count))
    by_uuid = "-" in text and len(text) >= _UUID_LENGTH
    found: list[int] = []
    for entry in text.split(","):
        number = _by_uuid(entry, count) if by_uuid else _by_number(entry, count)
        if number is None:
            break
        if number in found:
            return ()
        found.append(number)
    return tuple(found)


def _by_number(entry: str, count: int) -> int | None:
    number = int(entry) if re.fullmatch(r"\s*[0-9]{1,9}\s*", entry) else count
    return number if number < count else None


def _by_uuid(entry: str, count: int) -> int | None:
    return next((n for n in range(count) if board_uuid(n) == entry), None)
