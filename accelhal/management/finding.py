"""The one board that a key, a device or a person means, or why it cannot be told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from accelhal.errors import AccelhalError, DeviceNotFoundError, described, message_of
from accelhal.facts import BoardInfo, BoardKey, Location
from accelhal.host import Host
from accelhal.management.boards import boards_on_bus, completed, driver_boards
from accelhal.spi import BackendSpec

_ADDRESS = re.compile(r"(?:(?P<domain>[0-9a-f]{4,8}):)?(?P<rest>[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])")
"""A PCI address; tools write four or eight digits of domain, or leave the domain 0 out."""


@dataclass(frozen=True)
class FoundBoard:
    """A board, or None and the reason."""

    board: BoardInfo | None
    reason: str = ""


def named_board(key: BoardKey, boards: Sequence[BoardInfo]) -> BoardInfo | None:
    """The board of that key; None where none or several answer to it.

    A driver keys by one of a board's names what a device may be traced to by another.
    """
    own = [board for board in boards if board.key == key]
    found = own or [board for board in boards if _answers_to(board, key)]
    return found[0] if len(found) == 1 else None


def _answers_to(board: BoardInfo, key: BoardKey) -> bool:
    if board.backend != key.backend:
        return False
    if key.source == "uuid":
        return board.uuid == key.value
    if board.parent is not None:  # a slice has its board's address, and no number
        return False
    if key.source == "pci":
        return board.pci == key.value
    return board.index is not None and str(board.index) == key.value


def find_board(spec: BackendSpec, location: Location, host: Host | None = None) -> FoundBoard:
    """The board that a Runtime traced a device to, as the driver or the PCI bus shows it.

    Never raises: the reason says what failed.
    """
    key = location.key
    if key is None:
        return FoundBoard(None, location.reason)
    where = Host() if host is None else host
    on_bus = boards_on_bus([spec], where)
    listed, failure = _listed(spec, on_bus)
    found = named_board(key, listed) or named_board(key, on_bus)
    if found is not None:
        return FoundBoard(found)
    return FoundBoard(None, failure or f"{spec.name}: no board has the {key.source} {key.value}")


def board_under(spec: BackendSpec, index: int, host: Host | None = None) -> FoundBoard:
    """The board that torch's device `index` would be on in a process that starts here and now.

    Told without torch: from the variables in force, in the plugin's reading, and the driver's list.
    Never raises: the reason says what failed.
    """
    if spec.locate is None:
        return FoundBoard(None, f"{spec.name}: without torch its plugin cannot tell the board")
    where = Host() if host is None else host
    listed, failure = _listed(spec, boards_on_bus([spec], where))
    if failure:
        return FoundBoard(None, failure)
    try:
        location = spec.locate(index, where, listed)
    except Exception as error:  # a plugin's
        return FoundBoard(None, described(error))
    if location.key is None:
        return FoundBoard(None, location.reason)
    key = location.key
    found = named_board(key, listed)
    reason = "" if found else f"{spec.name}: its driver lists no {key.source} {key.value}"
    return FoundBoard(found, reason)


def board_called(text: str, boards: Sequence[BoardInfo]) -> BoardInfo:
    """The board whose UUID or PCI address is `text`.

    Raises:
        DeviceNotFoundError: none is called so.
    """
    wanted = text.strip().lower()
    found = _ADDRESS.fullmatch(wanted)
    if found is not None:
        address = f"{int(found['domain'] or '0', 16):04x}:{found['rest']}"
        named = [board for board in boards if board.pci == address and board.parent is None]
    else:
        named = [board for board in boards if board.uuid and board.uuid.lower() == wanted]
    if len(named) != 1:
        raise DeviceNotFoundError(
            f"no board has the UUID or PCI address {text!r}",
            operation="find board",
            hint="`accelhal devices --json` lists both",
        )
    return named[0]


def _listed(spec: BackendSpec, on_bus: Sequence[BoardInfo]) -> tuple[list[BoardInfo], str]:
    """The boards of the driver's list, or none and why."""
    try:
        return completed(driver_boards(spec), on_bus), ""
    except AccelhalError as error:
        return [], message_of(error)
    except Exception as error:  # a driver library and its wrapper raise what they like
        return [], described(error)
