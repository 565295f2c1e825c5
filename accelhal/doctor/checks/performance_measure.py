"""What boards at rest do when they are given work for a second or two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from accelhal.doctor.board_names import board_name
from accelhal.doctor.facts import Facts
from accelhal.doctor.measuring.judging import (
    INSIDE,
    OUTSIDE,
    RelationOf,
    Shortfall,
    active_limits,
    figures_of,
    shortfalls,
    slow_pairs,
)
from accelhal.doctor.measuring.outcomes import MeasuredBoard, Outcome
from accelhal.doctor.quantities import rate_text
from accelhal.doctor.thresholds import LINK_SHARE, MODEL_SHARE, SIBLING_SHARE
from accelhal.facts import BoardKey, BoardReading, Finding, FindingState, Relation
from accelhal.facts.measured import BoardFigures
from accelhal.facts.models import BoardModel
from accelhal.management.models import board_model
from accelhal.spi.doctor import Check, Cost

_MEASURE = "perf.measure"
_BANDWIDTH = "pcie.bandwidth"

_SLOW_COPIES = {
    "siblings": "copies.slow_siblings",
    "link": "copies.slow_link",
    "pairs": "copies.slow_pairs",
}


def _measured(facts: Facts) -> Iterator[Finding]:
    if facts.torch is None:
        yield Finding(_MEASURE, "measure.no_torch", FindingState.SKIP)
        return
    models = {board_name(board.reading): _model(board.reading) for board in facts.measured}
    short = [_inside(found) for found in shortfalls(facts.measured, models, INSIDE)]
    yield from _each_board(_MEASURE, INSIDE, facts.measured, short)


def _copied(facts: Facts) -> Iterator[Finding]:
    if facts.torch is None:
        yield Finding(_BANDWIDTH, "measure.no_torch", FindingState.SKIP)
        return
    boards = facts.measured
    found = (*shortfalls(boards, {}, OUTSIDE), *slow_pairs(boards, _relations(facts)))
    short = [_Judged(one, _SLOW_COPIES[one.against], FindingState.WARN) for one in found]
    yield from _each_board(_BANDWIDTH, OUTSIDE, boards, short)


@dataclass(frozen=True)
class _Judged:
    """A shortfall, and what it means."""

    found: Shortfall
    code: str
    state: FindingState

    @property
    def gravity(self) -> tuple[bool, float]:
        """Warnings first, then what falls shortest."""
        return self.state is FindingState.WARN, -self.found.share


def _inside(found: Shortfall) -> _Judged:
    if found.against == "siblings":
        return _Judged(found, "measure.slow_sibling", FindingState.WARN)
    if found.far or found.limits:
        return _Judged(found, "measure.slow_model", FindingState.WARN)
    return _Judged(found, "measure.below_model", FindingState.INFO)


def _each_board(
    check: str, place: str, boards: Sequence[MeasuredBoard], short: Sequence[_Judged]
) -> Iterator[Finding]:
    """One finding a board: the gravest of what falls short, or that all is well."""
    if not boards:
        yield Finding(check, "measure.no_board", FindingState.SKIP)
    for board in boards:
        if board.figures is None:
            yield _without_figures(check, board)
            continue
        name, seen = board_name(board.reading), _seen(board.reading, board.figures, place)
        mine = sorted((one for one in short if one.found.board == name), key=_gravity, reverse=True)
        if mine:
            yield _short(check, mine, seen, board.reading)
        else:
            shown = [f"{n} {rate_text(*v)}" for n, v in figures_of(board.figures, place).items()]
            code = "measure.fine" if place == INSIDE else "copies.fine"
            params = {"figures": ", ".join(shown) or "nothing measured"}
            yield Finding(check, code, FindingState.OK, params, name, seen)


def _gravity(judged: _Judged) -> tuple[bool, float]:
    return judged.gravity


def _short(
    check: str, mine: Sequence[_Judged], seen: Mapping[str, str], reading: BoardReading
) -> Finding:
    worst, found = mine[0], mine[0].found
    low = [f"{one.found.figure} {one.found.share:.0%} of {one.found.against}" for one in mine]
    return Finding(
        check,
        worst.code,
        worst.state,
        {
            "figure": found.figure,
            "value": rate_text(found.value, found.unit),
            "reference": rate_text(found.reference, found.unit),
            "percent": f"{found.share:.0%}",
            "more": f", and {len(mine) - 1} more figures" if len(mine) > 1 else "",
            "limits": "; ".join(found.limits) or "no limit was seen at work",
        },
        found.board,
        {**seen, "too low": "; ".join(low)},
        _next(found, check, reading),
        confidence="certain" if found.limits else "likely",
    )


def _without_figures(check: str, board: MeasuredBoard) -> Finding:
    """Why a board has none; where it fails, the first of the checks says so."""
    name, params = board_name(board.reading), {"detail": board.detail, "step": board.step}
    again = (f"accelhal doctor --measure {_MEASURE}", "accelhal doctor --deep")
    if board.outcome is Outcome.IN_USE:
        forced = (f"accelhal doctor --measure --force {check}",)
        skip = FindingState.SKIP
        return Finding(check, "measure.in_use", skip, params, name, {}, forced, disturbs=True)
    if board.outcome is Outcome.HIDDEN:
        return Finding(check, "measure.hidden", FindingState.SKIP, params, name)
    if board.outcome is Outcome.NOT_OPENED:
        code, unknown = "measure.not_opened", FindingState.UNKNOWN
        opens = ("accelhal doctor --deep framework.sees",)
        return Finding(check, code, unknown, params, name, {}, opens)
    if check == _BANDWIDTH:
        return Finding(check, "measure.no_figures", FindingState.SKIP, params, name)
    code = "measure.hung" if board.outcome is Outcome.HUNG else "measure.failed"
    return Finding(check, code, FindingState.FAIL, params, name, {}, again)


def _next(found: Shortfall, check: str, reading: BoardReading) -> tuple[str, ...]:
    """What looks into the limit that was seen, or measures once more."""
    looks = {
        "throttled": "accelhal doctor thermal.throttle power.limit",
        "power": "accelhal doctor power.limit",
        "clock": "accelhal doctor clock.low clock.reasons",
        "PCIe": "accelhal doctor pcie.link pcie.replay",
    }
    words = [limit.partition(" ")[0].rstrip(":") for limit in found.limits]
    named = [looks[word] for word in words if word in looks]
    topology = ["accelhal topo"] if found.against == "pairs" else []
    board = reading.board
    alone = found.against in ("model", "link") and board.index is not None
    only = f" --device {board.backend}:{board.index}" if alone else ""
    again = f"accelhal doctor --measure {check}{only}"
    return tuple(dict.fromkeys([*named, *topology, again]))


def _seen(reading: BoardReading, figures: BoardFigures, place: str) -> dict[str, str]:
    seen = {name: rate_text(*value) for name, value in figures_of(figures, place).items()}
    if place == OUTSIDE:
        seen |= {f"copies to {key.value}": rate_text(r, "B/s") for key, r in figures.peers.items()}
    telemetry = figures.telemetry
    if place == INSIDE and telemetry is not None and telemetry.power is not None:
        seen["power under load"] = f"{telemetry.power:.0f} W"
    limits = active_limits(reading, figures, place)
    if limits:
        seen["limits"] = "; ".join(limits)
    return {**seen, "timed by": figures.clock, **figures.reasons}


def _model(reading: BoardReading) -> BoardModel | None:
    # A slice has a part of its board's figures.
    return board_model(reading.board) if reading.board.parent is None else None


def _relations(facts: Facts) -> RelationOf:
    """How near two boards of a backend are, as seen in the evidence of this host."""
    near: dict[frozenset[BoardKey | None], Relation] = {}
    for evidence in facts.snapshot.evidence:
        for pair in evidence.relations:
            ends = (evidence.boards[pair.one], evidence.boards[pair.other])
            near[frozenset(end.board.key for end in ends)] = pair.relation
    return lambda one, other: near.get(frozenset((one.board.key, other.board.key)))


MEASURE = Check(
    _MEASURE,
    "Performance",
    "matrix products and copies within each board at rest, against its model and its siblings",
    ("torch, in a child process for each board", "the models' published figures"),
    _measured,
    Cost.BOARD,
    depends_on=("driver.nodes", "device.lost", "framework.sees", "device.open"),
    explanation=(
        "Each board at rest multiplies matrices and copies within its memory for a second or two, "
        "one board after the other; boards in use are left alone without --force. A figure below "
        f"{SIBLING_SHARE:.0%} of what the other boards of the model on this host do is a warning. "
        f"Below {MODEL_SHARE:.0%} of the published figure it is one where a limit was seen at work "
        "(throttling, a lowered power limit, a low clock, a narrow PCIe link) or where less than "
        "half is reached: published peaks are those of the highest clock, and large boards reach "
        "65 to 85 % of them at their power limit. Figures that no source states are not used. "
        "Look into the limit that is named; without one, swap the board's slot with a sibling's "
        "and measure again: what moves with the board is the board's."
    ),
)

BANDWIDTH = Check(
    _BANDWIDTH,
    "PCIe",
    "copies between host and board and between boards, against the link and the siblings",
    ("torch, in a child process for each board", "the boards' PCIe links"),
    _copied,
    Cost.BOARD,
    depends_on=("device.lost", "pcie.link", "framework.sees", _MEASURE),
    explanation=(
        f"Copies of pinned memory below {LINK_SHARE:.0%} of what the widest and fastest link of "
        "board and slot carries are a warning, as are copies below "
        f"{SIBLING_SHARE:.0%} of what siblings do. A healthy link carries 75 to 87 % of its line "
        "rate. Copies of pageable memory pass through a buffer of the driver and are limited by "
        "the processor: they are shown, and judged only where memory cannot be pinned. Pairs "
        "of boards are held against pairs that are just as near. A slow link may be narrow or of "
        "a low generation (reseat the board, look at the riser), shared with other boards at work, "
        "or crossed from another socket: the copies run on the CPUs near the board where the "
        "driver names them."
    ),
)
