"""The pages of `npu-smi info -t … -i N`, each of one card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from accelhal.drivers.printed import number, shown, word
from accelhal.drivers.readings import in_range, or_none
from accelhal.facts import BoardReading, Telemetry
from accelhal.spi import EvidenceError, EvidenceReader, Section
from accelhal_ascend.evidence.block_facts import (
    BANDWIDTHS,
    CLOCK,
    DDIE,
    DIES,
    ERRORS,
    FIRMWARE,
    HBM_TEMPERATURE,
    HEALTH,
    MEMORY_CLOCKS,
    MODEL,
    OLD_ECC,
    POWERS,
    RATED_CLOCK,
    READ,
    SERIAL,
    SOFTWARE,
    TEMPERATURES,
    ChipBlock,
)
from accelhal_ascend.evidence.chips import MAX_CHIPS, chip, evidence
from accelhal_ascend.evidence.key_values import (
    CHIP,
    COUNT,
    NAME,
    NPU,
    Block,
    chips_of,
    key_of,
    read_blocks,
)

_COMMAND = "npu-smi info -t"

_PAGES = {
    "board": frozenset({SOFTWARE, "Chip Version", *DIES}),
    "common": frozenset({RATED_CLOCK, CLOCK, "Rated Power Dissipation(W)"}),
    "usages": frozenset({"Aicpu Usage Rate(%)", "Ctrlcpu Usage Rate(%)", *BANDWIDTHS}),
    "memory": frozenset({*MEMORY_CLOCKS, HBM_TEMPERATURE}),
    "ecc": frozenset({"HBM Single Bit Error Count", "DDR Single Bit Error Count", *OLD_ECC}),
    "health": frozenset({*HEALTH, ERRORS}),
    "temp": frozenset(TEMPERATURES),
    "power": frozenset(POWERS),
}
"""Page -> keys that stand on it and on none of those after it."""

_PROCESSES = "proc-mem"

_HEADLESS = frozenset(
    {
        *("DDR Capacity(MB)", "Memory Capacity(MB)", "Total DDR Capacity(MB)"),
        *("DDR Single Bit Error Count", "HBM Single Bit Error Count", "Single-bit Error Count"),
        *("NPU Temperature (C)", "Temperature (C)", "NPU Real-time Power(W)", "Health Status"),
    }
)
"""First keys of what npu-smi prints with -c, which does not say of which chip it is."""


def _begins(line: str) -> bool:
    return NPU in line and key_of(line) == NPU


def _begins_headless(line: str) -> bool:
    return " :" in line and key_of(line) in _HEADLESS


def _read_headless(lines: Sequence[str]) -> Section:
    _, end = read_blocks(lines)
    raise EvidenceError(
        end - 1, "it does not say of which NPU it is: print it with -i alone, without -c"
    )


def _read(lines: Sequence[str]) -> Section:
    blocks, end = read_blocks(lines)
    card = blocks[0].number(NPU)
    assert card is not None, "the line that begins the page"
    page = _page(card, blocks, end)
    label = next((block for block in blocks if SOFTWARE in block.values), None)
    if label is not None:
        boards = list(_of_card(card, ChipBlock(page, label)))
    else:
        chips = chips_of(blocks, card)
        boards = [ChipBlock(page, block).reading(card, place) for place, block in chips]
        boards = _with_card_power(boards, card, page, blocks)
    if not boards:
        raise EvidenceError(end - 1, f"it says nothing of NPU {card}")
    driver = None if label is None else or_none(partial(word, label.values[SOFTWARE]))
    versions = {} if driver is None else {"driver": driver}
    return Section(evidence(page, boards, versions=versions, notes=_notes(page, blocks)), end)


def _page(card: int, blocks: Sequence[Block], end: int) -> str:
    """The command that prints the page.

    Raises:
        EvidenceError: it is none of those that are known.
    """
    keys = {key for block in blocks for key in block.values}
    name = next((name for name, own in _PAGES.items() if own & keys), None)
    if name is None and any(block.processes is not None for block in blocks):
        name = _PROCESSES
    if name is not None:
        return f"{_COMMAND} {name}"
    others = sorted(keys - {NPU, COUNT, CHIP, NAME})
    if others:
        raise EvidenceError(end - 1, f"a page that is not known, with {others[0]!r}")
    raise EvidenceError(end - 1, f"it says nothing of NPU {card}")


def _of_card(card: int, label: ChipBlock) -> Iterator[BoardReading]:
    """What is the card's, for each of its chips: they share label and firmware."""
    total = label.block.number(COUNT)
    if total is None or not 0 < total <= MAX_CHIPS:
        line = label.block.line
        raise EvidenceError(line, f"NPU {card}: it does not say how many chips the card has")
    alone = total == 1
    for place in range(total):
        yield BoardReading(
            board=chip(
                card,
                place,
                name=label.name if alone else "",
                # The 950 has no cards: its dev_id is the driver's number.
                index=card if alone and DDIE in label.block.values else None,
                uuid=label.uuid if alone else None,
                serial=or_none(partial(word, label.block.values.get(SERIAL, ""))),
                pci=label.pci if alone else None,
            ),
            details=label.details(part_number=MODEL, firmware=FIRMWARE),
        )


def _with_card_power(
    boards: Sequence[BoardReading], card: int, page: str, blocks: Sequence[Block]
) -> list[BoardReading]:
    """The power that a 310P's controller measures, at the card's first chip as in live reading."""
    texts = (
        block.values[key]
        for block in blocks
        if block.is_controller
        for key in POWERS
        if key in block.values
    )
    powers = [or_none(partial(_watts, text)) for text in texts]
    if not powers or powers[0] is None:
        return list(boards)
    alone = shown(Telemetry, {"power": lambda: powers[0]}, page)
    found = [board for board in boards if board.board.tool_id == f"{card}.0"]
    if not found:
        return [*boards, BoardReading(chip(card), telemetry=alone)]
    sensors = found[0].telemetry or alone
    if sensors.power is None:
        reasons = {name: why for name, why in sensors.reasons.items() if name != "power"}
        sensors = replace(sensors, power=powers[0], reasons=reasons)
    return [replace(b, telemetry=sensors) if b is found[0] else b for b in boards]


def _watts(text: str) -> float:
    return float(in_range("power", number(text)))


def _notes(page: str, blocks: Sequence[Block]) -> list[str]:
    keys = [key for block in blocks if not block.is_controller for key in block.values]
    others = [key for key in dict.fromkeys(keys) if key not in READ]
    shows = [f"{page} also shows {', '.join(others)}."] if others else []
    return shows + [f"{page} says: {text[:80]}" for block in blocks for text in block.talk]


CARD_PAGES = EvidenceReader(_COMMAND, _begins, _read)
CHIP_PAGES = EvidenceReader(f"{_COMMAND} … -c", _begins_headless, _read_headless)
