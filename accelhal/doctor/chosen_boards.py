"""The boards that --device names: all of a backend, or one by the driver's own number."""

from __future__ import annotations

from collections.abc import Sequence

from accelhal.device_name import parse_device_name
from accelhal.doctor.facts import Facts
from accelhal.errors import UsageError
from accelhal.facts import BoardKey


def chosen_boards(names: Sequence[str], facts: Facts) -> frozenset[BoardKey]:
    """The keys of the boards.

    Args:
        names: backends, or "backend:0" for the board that the driver counts as 0.
        facts: the host or the evidence that has them.

    Raises:
        UsageError: a name is malformed, or no board has it.
    """
    found: set[BoardKey] = set()
    for name in names:
        wanted = parse_device_name(name)
        boards = [reading.board for reading in facts.readings(wanted.backend)]
        keys = {
            board.key
            for board in boards
            if board.key is not None and wanted.index in (None, board.index)
        }
        if not keys:
            known = (
                ", ".join(
                    f"{reading.board.backend}:{reading.board.index}" for reading in facts.readings()
                )
                or "none"
            )
            raise UsageError(
                f"there is no board {name!r}",
                operation="doctor",
                hint=f"the driver lists: {known}",
            )
        found |= keys
    return frozenset(found)
