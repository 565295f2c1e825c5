"""Boards and slices as captured output names them: by the best name that it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from accelhal.facts import BoardInfo, BoardKey, BoardReading
from accelhal.spi import EvidenceError

_SOURCE = "nvidia-smi"


def board(
    *,
    name: str = "",
    index: int | None = None,
    uuid: str | None = None,
    pci: str | None = None,
    serial: str | None = None,
    total_memory: int | None = None,
    numa_node: int | None = None,
) -> BoardInfo:
    """A board by its UUID, else its PCI address, else its number; one of them is known."""
    if uuid is not None:
        key = BoardKey("cuda", "uuid", uuid)
    elif pci is not None:
        key = BoardKey("cuda", "pci", pci)
    else:
        key = BoardKey("cuda", "visible-order", str(index))
    return BoardInfo(
        key=key,
        vendor="NVIDIA",
        name=name,
        backend="cuda",
        source=_SOURCE,
        index=index,
        uuid=uuid,
        serial=serial,
        pci=pci,
        total_memory=total_memory or None,
        numa_node=numa_node,
    )


def slice_of(
    parent: BoardInfo,
    number: int,
    *,
    name: str = "",
    uuid: str | None = None,
    total_memory: int | None = None,
) -> BoardInfo:
    """A MIG instance: by its UUID, else by its board's name and its number on it."""
    assert parent.key is not None
    key = (
        BoardKey("cuda", "logic-id", f"{parent.key.value}:{number}")
        if uuid is None
        else BoardKey("cuda", "uuid", uuid)
    )
    alike = board(
        name=name,
        index=number,
        uuid=uuid,
        pci=parent.pci,
        total_memory=total_memory,
        numa_node=parent.numa_node,
    )
    return replace(alike, key=key, parent=parent.key)


def require_distinct(readings: Sequence[BoardReading], lines: Sequence[int]) -> None:
    """Refuse a page that gives two boards one name.

    Args:
        readings: boards and slices.
        lines: where each of the boards that are no slices stands.

    Raises:
        EvidenceError: at the second of them.
    """
    seen: set[tuple[str, object]] = set()
    place = -1
    for reading in readings:
        info = reading.board
        names: list[tuple[str, object]] = [("key", info.key), ("UUID", info.uuid)]
        if info.parent is None:
            place += 1
            names += [("PCI address", info.pci), ("number", info.index)]
        for kind, name in names:
            if name is not None and (kind, name) in seen:
                raise EvidenceError(lines[place], f"two boards of one {kind}")
            seen.add((kind, name))
