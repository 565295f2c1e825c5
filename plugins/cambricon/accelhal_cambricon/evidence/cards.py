"""The cards that cnmon's pages tell of, named as the live reading names them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from accelhal.drivers.printed import word
from accelhal.drivers.readings import NotReportedError
from accelhal.facts import BoardInfo, BoardReading, Evidence
from accelhal_cambricon.cndev_boards import board_key

_NUMBER = re.compile(r"\d{1,5}", re.ASCII)


def number_of(text: str) -> int | None:
    """A card's number."""
    return int(text) if _NUMBER.fullmatch(text) else None


def card(
    number: int,
    *,
    name: str = "",
    uuid: str | None = None,
    pci: str | None = None,
    total_memory: int | None = None,
) -> BoardInfo:
    """A card by its number, which is its place in the driver's list (cnmon counts as CNDev does).

    A board of two chips is two cards here as there.
    """
    return BoardInfo(
        key=board_key(number),
        vendor="Cambricon",
        name=name,
        backend="mlu",
        source="cnmon",
        index=number,
        uuid=uuid,
        pci=pci,
        total_memory=total_memory,
    )


def version(text: str) -> str:
    """A version as the live reading spells it: without the "v" that cnmon prints before it.

    Raises:
        NotReportedError: the text is none.
    """
    found = word(text).removeprefix("v")
    if re.fullmatch(r"[0-9][\w.+-]{0,40}", found, re.ASCII) is None:
        raise NotReportedError(f"the tool prints {text[:40]!r}")
    return found


def evidence(
    page: str,
    boards: Iterable[BoardReading],
    versions: Mapping[str, str] | None = None,
    notes: Iterable[str] = (),
) -> Evidence:
    """What a page shows."""
    return Evidence(
        backend="mlu",
        source=page,
        boards=tuple(boards),
        versions=versions or {},
        notes=tuple(notes),
    )
