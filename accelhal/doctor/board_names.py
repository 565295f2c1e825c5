"""What findings call a board: its backend, and the driver's own number of it."""

from __future__ import annotations

from accelhal.facts import BoardReading


def board_name(reading: BoardReading) -> str:
    """Backend and number ("toy board 3"); address or name where the driver does not count it."""
    board = reading.board
    known = (board.tool_id, board.index, board.pci)
    number = next((str(name) for name in known if name is not None), board.name or "?")
    return f"{board.backend or board.vendor} board {number}"
