"""What `with` must undo, kept per thread: shared and re-entered objects restore rightly."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from accelhal.errors import UsageError


class ContextStack(threading.local):
    """The open contexts of each thread, innermost last.

    State that a context manager keeps on itself is lost when a second thread, or an inner `with`,
    enters the same object. Here each entry belongs to the thread that made it.
    """

    def __init__(self) -> None:
        self._entries: list[tuple[object, Callable[[], None]]] = []

    def push(self, owner: object, restore: Callable[[], None]) -> None:
        """Note that this thread entered `owner`; `restore` undoes it."""
        self._entries.append((owner, restore))

    def pop(self, owner: object) -> None:
        """Undo this thread's latest entry of `owner`.

        Tasks and generators leave their contexts in any order. What is left while later ones are
        open stays in force for them, and is undone with the one entered next.
        """
        for position in range(len(self._entries) - 1, -1, -1):
            if self._entries[position][0] is owner:
                break
        else:
            raise UsageError(
                f"{owner!r} was not entered in this thread",
                hint="leave a `with` block in the thread that entered it",
            )
        _, restore = self._entries.pop(position)
        if position == len(self._entries):
            restore()
        else:
            later, restore_later = self._entries[position]
            self._entries[position] = (later, partial(_in_turn, restore_later, restore))


def _in_turn(first: Callable[[], None], second: Callable[[], None]) -> None:
    try:
        first()
    finally:
        second()
