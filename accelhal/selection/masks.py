"""The variables that show a program the chosen boards alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from accelhal.facts import BoardReading
from accelhal.spi import BackendSpec


def mask_for(boards: Sequence[BoardReading], spec: BackendSpec) -> Mapping[str, str]:
    """Variable -> value; empty where the boards cannot be named by it.

    By UUID where the backend's first variable takes them, else by the driver's numbers.

    Args:
        boards: of that backend.
        spec: the backend.
    """
    if not spec.visible_devices:
        return {}
    grammar = spec.visible_devices[0]
    uuids = [reading.board.uuid or "" for reading in boards]
    if any(all(re.match(form.value, uuid) for uuid in uuids) for form in grammar.identifiers):
        return {grammar.variable: ",".join(uuids)}
    numbers = [reading.board.index for reading in boards]
    if any(
        number is None or reading.board.parent
        for number, reading in zip(numbers, boards, strict=True)
    ):
        return {}
    return {grammar.variable: ",".join(map(str, numbers))}
