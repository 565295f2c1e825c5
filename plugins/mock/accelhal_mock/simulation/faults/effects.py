"""What the faults of a board do to one launch."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class BitFlip:
    """A bit of the result that the board gets wrong.

    Attributes:
        seed: decides which element, and which bit where none is named.
        bit: bit of the element, counted from the least significant; None for any.
    """

    seed: int
    bit: int | None = None

    def place(self, elements: int, width: int) -> tuple[int, int]:
        """(element, bit) to flip in a result of so many elements, each `width` bits wide."""
        chance = random.Random(self.seed)
        element = chance.randrange(elements)
        bit = chance.randrange(width)
        return element, bit if self.bit is None else self.bit % width


@dataclass(frozen=True)
class LaunchEffects:
    """How a launch goes on a board with faults.

    Attributes:
        slowdown: factor on its time.
        hangs: whether it never ends.
        flip: the bit of its result that is wrong, or None.
    """

    slowdown: float = 1.0
    hangs: bool = False
    flip: BitFlip | None = None
