"""Reads what any `nvidia-smi` prints in place of its output when a board does not answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from accelhal.drivers.printed import pci_address
from accelhal.drivers.readings import NotReportedError
from accelhal.facts import BoardReading, Evidence
from accelhal.spi import EvidenceError, EvidenceReader, Section
from accelhal_cuda.evidence.board_names import board
from accelhal_cuda.health_rules import unreachable

_TOOL = "nvidia-smi"
_START = "Unable to determine the device handle for GPU"
_MESSAGE = re.compile(
    re.escape(_START) + r" ?(?:\d{1,3}: )?(?P<pci>[0-9A-Fa-f:.]+): (?P<why>[A-Z].{1,200})"
)
"""Releases differ in what stands between "GPU" and the address: nothing, a blank, the number."""


def _begins(line: str) -> bool:
    return line.startswith(_START)


def _read(lines: Sequence[str]) -> Section:
    found = _MESSAGE.fullmatch(lines[0].strip())
    if found is None:
        raise EvidenceError(0, "it does not name the board by its address")
    try:
        info = board(pci=pci_address(found["pci"]))
    except NotReportedError as reason:
        raise EvidenceError(0, f"no address of a board: {reason}") from None
    reading = BoardReading(info, health=unreachable(found["why"]))
    return Section(Evidence("cuda", _TOOL, (reading,)), 1)


LOST_BOARD = EvidenceReader(_TOOL, _begins, _read)
