"""Measured figures against the board's model and its siblings, and the limits that explain them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_high

from accelhal.doctor.board_names import board_name
from accelhal.doctor.measuring.outcomes import MeasuredBoard, Outcome
from accelhal.doctor.measuring.use import use_of
from accelhal.doctor.thresholds import (
    AT_LIMIT_SHARE,
    CLOCK_SHARE,
    FAR_BELOW_MODEL_SHARE,
    LINK_SHARE,
    MODEL_SHARE,
    SIBLING_SHARE,
)
from accelhal.facts import BoardReading, Relation
from accelhal.facts.measured import BoardFigures
from accelhal.facts.models import BoardModel
from accelhal.host.pcie_rate import pcie_rate

RelationOf = Callable[[BoardReading, BoardReading], Relation | None]

INSIDE, OUTSIDE = "inside", "outside"
"""Figures of the board alone, and of its link to the host."""


@dataclass(frozen=True)
class Shortfall:
    """A figure that is less than it should be.

    Attributes:
        board: the board's name.
        figure: what was measured ("float32 products").
        value: per second.
        unit: of the value and the reference.
        reference: what it is held against.
        against: "siblings", "model", "link" or "pairs".
        limits: what was seen to hold the board back.
        far: whether it is so far below that no limit need be seen.
    """

    board: str
    figure: str
    value: float
    unit: str
    reference: float
    against: str
    limits: tuple[str, ...]
    far: bool = False

    @property
    def share(self) -> float:
        """Of the reference."""
        return self.value / self.reference


def shortfalls(
    boards: Sequence[MeasuredBoard], models: Mapping[str, BoardModel | None], place: str
) -> Iterator[Shortfall]:
    """Figures of one place that fall short: of each figure the gravest reference alone.

    Args:
        boards: all boards of the host.
        models: a board's name as findings give it -> its model.
        place: INSIDE or OUTSIDE.
    """
    measured = [(board, figures) for board in boards if (figures := _figures(board)) is not None]
    for board, figures in measured:
        siblings = [other for known, other in measured if _are_siblings(known, board)]
        name = board_name(board.reading)
        limits = active_limits(board.reading, figures, place)
        for figure, (value, unit) in _judged(figures, place).items():
            others = [
                known[figure][0] for o in siblings if figure in (known := figures_of(o, place))
            ]
            if others and value < SIBLING_SHARE * median_high(others):
                yield Shortfall(name, figure, value, unit, median_high(others), "siblings", limits)
                continue
            reference = _reference(figure, board.reading, figures, models.get(name))
            if reference is None:
                continue
            of, against, share, far = reference
            if value < share * of:
                yield Shortfall(
                    name, figure, value, unit, of, against, limits, far=value < far * of
                )


def slow_pairs(boards: Sequence[MeasuredBoard], relation: RelationOf) -> Iterator[Shortfall]:
    """Copies between two boards that are slower than between others just as near.

    Args:
        boards: all boards of the host.
        relation: how near two boards are; None where that is not known.
    """
    readings = {b.reading.board.key: b.reading for b in boards}
    pairs = [
        _Pair(board.reading, readings[peer], rate, relation(board.reading, readings[peer]))
        for board in boards
        if (figures := _figures(board)) is not None
        for peer, rate in figures.peers.items()
        if peer in readings
    ]
    for pair in pairs:
        others = [other.rate for other in pairs if other is not pair and other.is_like(pair)]
        if others and pair.rate < SIBLING_SHARE * median_high(others):
            yield Shortfall(
                board_name(pair.one),
                f"copies to {board_name(pair.other)}",
                pair.rate,
                "B/s",
                median_high(others),
                "pairs",
                (),
            )


@dataclass(frozen=True)
class _Pair:
    """Two boards, and bytes a second from the one to the other."""

    one: BoardReading
    other: BoardReading
    rate: float
    relation: Relation | None

    def is_like(self, other: _Pair) -> bool:
        """Whether the other pair has boards of the same models, just as near."""
        mine, theirs = (
            sorted((pair.one.board.name, pair.other.board.name)) for pair in (self, other)
        )
        return mine == theirs and self.relation is other.relation


def active_limits(reading: BoardReading, figures: BoardFigures, place: str) -> tuple[str, ...]:
    """What was seen to hold the board back while it worked, in words."""
    use = use_of(reading)
    seen = _link_limits(reading, figures) if place == OUTSIDE else _limits(reading, figures)
    return (*((f"{use} (--force)",) if use else ()), *seen)


def _limits(reading: BoardReading, figures: BoardFigures) -> Iterator[str]:
    seen, details = figures.telemetry, reading.details
    if seen is None:
        return
    for reason in seen.throttle_reasons or ():
        yield f"throttled: {reason}"
    default = details.default_power_limit if details else None
    if seen.power_limit and default and seen.power_limit < AT_LIMIT_SHARE * default:
        yield f"power limit {seen.power_limit:.0f} W of {default:.0f} W"
    top = details.max_core_clock if details else None
    if seen.core_clock and top and seen.core_clock < CLOCK_SHARE * top:
        yield f"clock {seen.core_clock:.0f} MHz of {top:.0f} MHz"


def _link_limits(reading: BoardReading, figures: BoardFigures) -> Iterator[str]:
    link = figures.pcie or reading.pcie
    if link is None:
        return
    if link.lanes and link.max_lanes and link.lanes < link.max_lanes:
        yield f"PCIe x{link.lanes} of x{link.max_lanes}"
    # Boards at rest lower the generation: it counts only while a copy ran.
    now, top = link.generation, link.max_generation
    if figures.pcie is not None and now and top and now < top:
        yield f"PCIe generation {now} of {top}"


def figures_of(figures: BoardFigures, place: str) -> dict[str, tuple[float, str]]:
    """Figures of one place: name -> value per second, and unit."""
    if place == INSIDE:
        found = {f"{name} products": (rate, "op/s") for name, rate in figures.products.items()}
        if figures.memory is not None:
            found["copies within the board"] = (figures.memory, "B/s")
        return found
    return {
        f"{kind} copies {way}": (rate, "B/s")
        for way, rates in (
            ("from the host", figures.to_board),
            ("to the host", figures.from_board),
        )
        for kind, rate in rates.items()
    }


def _judged(figures: BoardFigures, place: str) -> dict[str, tuple[float, str]]:
    """Those that are judged: copies of pageable memory, which the processor makes, only alone."""
    shown = figures_of(figures, place)
    pinned = {name: value for name, value in shown.items() if not name.startswith("pageable")}
    return pinned or shown


def _reference(
    figure: str, reading: BoardReading, figures: BoardFigures, model: BoardModel | None
) -> tuple[float, str, float, float] | None:
    """What the figure should reach: value, whose, the share that is due, the share that is far."""
    kind = figure.partition(" ")[0]
    if kind == "pinned":
        link = figures.pcie or reading.pcie
        if link is None or not link.max_generation or not link.max_lanes:
            return None
        return pcie_rate(link.max_generation, link.max_lanes), "link", LINK_SHARE, LINK_SHARE
    if model is None or kind == "pageable":
        return None
    if figure == "copies within the board":
        field, published, short = "bandwidth", model.bandwidth, "memory" in figures.short
    else:
        field = f"peak_rates.{kind}"
        published, short = model.peak_rates.get(kind), kind in figures.short
    if published is None or short or not _is_published(model, field):
        return None
    return published / model.chips, "model", MODEL_SHARE, FAR_BELOW_MODEL_SHARE


def _is_published(model: BoardModel, field: str) -> bool:
    """Whether the figure was read in a source: nothing is judged by what is general knowledge."""
    named = (field, field.partition(".")[0])
    return "unverified" not in model.strength and not any(n in model.unverified for n in named)


def _figures(board: MeasuredBoard) -> BoardFigures | None:
    return board.figures if board.outcome is Outcome.MEASURED else None


def _are_siblings(one: MeasuredBoard, other: MeasuredBoard) -> bool:
    mine, theirs = one.reading.board, other.reading.board
    return one is not other and (mine.backend, mine.name) == (theirs.backend, theirs.name)
