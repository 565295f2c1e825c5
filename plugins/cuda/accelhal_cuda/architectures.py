"""Which boards a build's code runs on, by architecture names ("sm_90", "compute_120").

The rules are those of the CUDA programming guide: compiled code runs on its own major architecture
from its minor on, "a" code on that one alone, and PTX on anything newer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_NAME = re.compile(r"(sm|compute)_([0-9]{1,3})([0-9])([af]?)", re.IGNORECASE)
_CAPABILITY = re.compile(r"([0-9]{1,3})\.([0-9])")


@dataclass(frozen=True)
class Architecture:
    """One architecture.

    Attributes:
        capability: (major, minor).
        portable: PTX, which the driver compiles.
        specific: "a" for code of this architecture alone, "f" for code of its family, else "".
    """

    capability: tuple[int, int]
    portable: bool = False
    specific: str = ""


def architecture(name: str) -> Architecture | None:
    """The architecture that "sm_90a", "compute_120" or a board's capability "8.6" names."""
    text = name.strip()
    if found := _NAME.fullmatch(text):
        capability = (int(found[2]), int(found[3]))
        return Architecture(capability, found[1].lower() == "compute", found[4].lower())
    if found := _CAPABILITY.fullmatch(text):
        return Architecture((int(found[1]), int(found[2])))
    return None


def arch_name(board: str) -> str:
    """The name of a board's capability: "sm_86" of "8.6"; another text as it stands."""
    found = architecture(board)
    return board if found is None else "sm_{}{}".format(*found.capability)


def rule_for(board: str, code: Iterable[str]) -> str | None:
    """How a build's code gets onto a board: "compiled", "portable", "no_code".

    Args:
        board: the board's architecture or capability.
        code: architectures that the build has code for; names that say nothing are passed over.

    Returns:
        None where the board's name, or every name of the code, says nothing.
    """
    target = architecture(board)
    known = [one for one in map(architecture, code) if one is not None]
    if target is None or not known:
        return None
    if any(_runs(one, target) for one in known if not one.portable):
        return "compiled"
    if any(_runs(one, target) for one in known if one.portable):
        return "portable"
    return "no_code"


def _runs(code: Architecture, board: Architecture) -> bool:
    if code.specific == "a":
        return code.capability == board.capability
    if code.portable and not code.specific:
        return code.capability <= board.capability
    same_major = code.capability[0] == board.capability[0]
    return same_major and code.capability[1] <= board.capability[1]
