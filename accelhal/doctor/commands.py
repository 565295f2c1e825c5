"""Commands with names in braces, filled in: for a board, a line, a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from accelhal.facts import BoardReading


def for_board(commands: Iterable[str], reading: BoardReading) -> tuple[str, ...]:
    """The commands with {index}, {tool_id}, {card}, {chip}, {pci} and {uuid} of the board in them.

    {card} and {chip} are the two parts of a tool_id such as "4.0".
    """
    board = reading.board
    index = "<index>" if board.index is None else str(board.index)
    card, _, chip = (board.tool_id or index).partition(".")
    known = {
        "index": index,
        "tool_id": board.tool_id or index,
        "card": card,
        "chip": chip or "0",
        "pci": board.pci or "<address>",
        "uuid": board.uuid or index,
    }
    return filled(commands, known)


def filled(commands: Iterable[str], known: Mapping[str, str]) -> tuple[str, ...]:
    """The commands with each known {name} in them; other braces are a shell's own, and stay."""
    return tuple(_filled(command, known) for command in commands)


def _filled(command: str, known: Mapping[str, str]) -> str:
    for name, value in known.items():
        command = command.replace(f"{{{name}}}", value)
    return command
