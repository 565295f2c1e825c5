"""What a simulated board raises, and how a way of showing it puts its own classes in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


class BoardError(RuntimeError):
    """A simulated board failed; the text reads as a vendor's runtime writes it."""


class OutOfMemoryError(BoardError):
    """A simulated board has no memory left for a request."""


@dataclass(frozen=True)
class ErrorTypes:
    """Makers of the errors that the simulation raises, each from its text.

    Attributes:
        board: for a failed call (python mode: torch.AcceleratorError).
        out_of_memory: for a refused allocation (python mode: torch.OutOfMemoryError).
    """

    board: Callable[[str], Exception] = BoardError
    out_of_memory: Callable[[str], Exception] = OutOfMemoryError
