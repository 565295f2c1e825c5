"""The chips that npu-smi's pages tell of, named as the live reading names them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from accelhal.facts import (
    BoardInfo,
    BoardReading,
    BoardRelation,
    Evidence,
    HealthCheck,
    HealthReport,
    HealthStatus,
)
from accelhal_ascend.dcmi import NO_NUMBER
from accelhal_ascend.dcmi_boards import KEYED_BY, keys
from accelhal_ascend.dcmi_health import VERDICTS, fault_checks

TOOL = "npu-smi"

MCUS = frozenset({"MCU", "3559"})
"""What npu-smi names the parts of a card that are no chips: its controller, its CPU."""

MAX_CHIPS = 16
"""More than any card has."""

_HEALTH = {"OK": 0, "Warning": 1, "Alarm": 2, "Critical": 3, "UNKNOWN": NO_NUMBER}
"""npu-smi's words for what dcmi_get_device_health answers."""

_NUMBER = re.compile(r"\d{1,6}", re.ASCII)


def number_of(text: str) -> int | None:
    """A card's, chip's or device's number."""
    return int(text) if _NUMBER.fullmatch(text) else None


def chip(
    card: int,
    number: int = 0,
    *,
    name: str = "",
    index: int | None = None,
    uuid: str | None = None,
    serial: str | None = None,
    pci: str | None = None,
    total_memory: int | None = None,
) -> BoardInfo:
    """A chip by its card ("NPU ID") and number there, and what else is known of it.

    Its key is the best of those that the live reading gives; None where the page names the chip
    by its card alone.
    """
    return BoardInfo(
        key=next(keys(index, uuid, pci), None),
        vendor="Huawei",
        name=name,
        backend="npu",
        source=TOOL,
        index=index,
        uuid=uuid,
        serial=serial,
        pci=pci,
        total_memory=total_memory,
        tool_id=f"{card}.{number}",
    )


def indices(chips: Sequence[tuple[int, int]]) -> list[int | None]:
    """The driver's numbers of all chips that a page lists as (card, chip), where they are certain.

    The driver numbers the chips that it shows from 0 on (dcmi_get_device_logic_id; `npu-smi info
    -m` prints it). Where every card has one chip and the cards are numbered 0, 1, 2 …, both
    numbers are the same. Where cards are missing, or have two chips of which one may be hidden,
    only -m can tell.
    """
    certain = list(chips) == [(number, 0) for number in range(len(chips))]
    return [card if certain else None for card, _ in chips]


def health(word: str, faults: Iterable[tuple[int, str]] = ()) -> HealthReport:
    """The report of npu-smi's word for a chip's health, and of the faults it lists."""
    if word in _HEALTH:
        status, value = VERDICTS[_HEALTH[word]]
        own = HealthCheck("device", status, value)
    else:
        own = HealthCheck("device", HealthStatus.UNKNOWN, None, f"the tool prints {word[:40]!r}")
    return HealthReport.of([own, *fault_checks(own.status, faults)])


def evidence(
    page: str,
    boards: Iterable[BoardReading] = (),
    relations: Iterable[BoardRelation] = (),
    versions: Mapping[str, str] | None = None,
    notes: Iterable[str] = (),
) -> Evidence:
    """What a page shows."""
    return Evidence(
        backend="npu",
        source=page,
        boards=tuple(boards),
        relations=tuple(relations),
        versions=versions or {},
        notes=tuple(notes),
        keyed_by=KEYED_BY,
    )
