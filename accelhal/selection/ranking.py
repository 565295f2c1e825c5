"""Boards ranked for stated needs, each choice with its reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from accelhal.evidence.boards import readings, topology
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import BoardReading, HealthStatus, Relation
from accelhal.facts.models import BoardModel
from accelhal.host import pci
from accelhal.management.models import board_model
from accelhal.selection.needs import Needs
from accelhal.topology import Topology

_RELATIONS = list(Relation)


@dataclass(frozen=True)
class Reason:
    """How one need stands.

    Attributes:
        need: which ("memory").
        met: None where that cannot be told.
        text: in words.
    """

    need: str
    met: bool | None
    text: str


@dataclass(frozen=True)
class Choice:
    """Boards of one backend, and how they meet the needs.

    Attributes:
        boards: as many as were asked for, by the driver's order.
        reasons: one for each need, and for what else speaks for or against them.
        farthest: how far the farthest two are; None for one board, or where it is not known.
    """

    boards: tuple[BoardReading, ...]
    reasons: tuple[Reason, ...]
    farthest: Relation | None = None

    @property
    def fits(self) -> bool:
        """Whether no need is known to be unmet."""
        return all(reason.met is not False for reason in self.reasons)


def rank(
    snapshot: Snapshot,
    needs: Needs,
    model_of: Callable[[BoardReading], BoardModel | None] = lambda r: board_model(r.board),
) -> list[Choice]:
    """Every choice that the host has, best first; each board is in one choice at most.

    Choices that meet all needs go first, then those of which less is unknown; among equals the
    nearest boards, the healthy, the idle, the fastest, those with most free memory.

    Args:
        snapshot: the boards, live or of another host.
        needs: what is asked for.
        model_of: the nominal figures of a board.
    """
    whole = topology(snapshot)
    seen = readings(snapshot)
    parents = {reading.board.parent for reading in seen if reading.board.parent is not None}
    singles = [
        _Board(place, reading, model_of(reading), needs)
        for place, reading in enumerate(seen)
        if reading.board.backend is not None
        and reading.board.key is not None
        and reading.board.key not in parents  # a board that is cut is used by its slices
        and (needs.simulated or not reading.board.simulated)
    ]
    by_backend: dict[str, list[_Board]] = {}
    for board in singles:
        by_backend.setdefault(str(board.reading.board.backend), []).append(board)
    sets = [one for own in by_backend.values() for one in _sets(own, whole, needs)]
    return [one.choice for one in sorted(sets, key=lambda one: one.order)]


class _Board:
    """One board against the needs of each."""

    def __init__(
        self, place: int, reading: BoardReading, model: BoardModel | None, needs: Needs
    ) -> None:
        self.place = place
        self.reading = reading
        self.memory = _free_memory(reading)
        self.speed = _speed(reading, model, needs.dtype)
        self.idle = None if reading.processes is None else not reading.processes
        self.health = HealthStatus.UNKNOWN if reading.health is None else reading.health.status
        self.reasons = tuple(_of_board(self, model, needs))

    @property
    def unmet(self) -> int:
        """Needs known to be unmet."""
        return sum(reason.met is False for reason in self.reasons)


@dataclass(frozen=True)
class _Set:
    choice: Choice
    order: tuple[object, ...]


def _sets(boards: Sequence[_Board], whole: Topology, needs: Needs) -> Iterator[_Set]:
    """Disjoint sets of one backend, the best first."""
    left = sorted(boards, key=_single_order)
    if len(left) < needs.count:
        if left:
            text = f"{len(left)} of {needs.count} boards are there"
            yield _set(left, whole, needs, (Reason("count", False, text),))
        return
    while len(left) >= needs.count:
        fit = [board for board in left if not board.unmet]
        chosen = _nearest(fit if len(fit) >= needs.count else left, whole, needs.count)
        yield _set(chosen, whole, needs, ())
        left = [board for board in left if board not in chosen]


def _nearest(boards: Sequence[_Board], whole: Topology, count: int) -> list[_Board]:
    if count == 1:
        return [boards[0]]
    part = Topology(
        tuple(board.reading.board for board in boards),
        {
            (one, other): whole.relation(boards[one].place, boards[other].place)
            for one, other in combinations(range(len(boards)), 2)
        },
    )
    return [boards[place] for place in part.best_subset(count)]


def _set(boards: Sequence[_Board], whole: Topology, needs: Needs, more: tuple[Reason, ...]) -> _Set:
    boards = sorted(boards, key=lambda board: board.place)
    pairs = [whole.relation(a.place, b.place) for a, b in combinations(boards, 2)]
    known = [relation for relation in pairs if relation is not None]
    farthest = max(known, key=_RELATIONS.index) if known and len(known) == len(pairs) else None
    shared = tuple(_merged([board.reasons for board in boards]))
    reasons = (*more, *shared, *_of_set(boards, farthest, needs))
    choice = Choice(tuple(board.reading for board in boards), reasons, farthest)
    distance = 0 if len(boards) == 1 else len(_RELATIONS)
    speeds = [board.speed or 0.0 for board in boards]
    order = (
        sum(reason.met is False for reason in reasons),
        sum(reason.met is None for reason in reasons),
        _RELATIONS.index(farthest) if farthest is not None else distance,
        max(_HEALTH[board.health] for board in boards),
        sum(board.idle is False for board in boards),
        -sum(speeds),
        -min(board.memory or 0 for board in boards),
        boards[0].place,
    )
    return _Set(choice, order)


_HEALTH = {
    HealthStatus.OK: 0,
    HealthStatus.UNKNOWN: 1,
    HealthStatus.DEGRADED: 2,
    HealthStatus.FAILED: 3,
}


def _single_order(board: _Board) -> tuple[object, ...]:
    return (
        board.unmet,
        _HEALTH[board.health],
        board.idle is False,
        -(board.speed or 0.0),
        -(board.memory or 0),
        board.place,
    )


def _of_board(board: _Board, model: BoardModel | None, needs: Needs) -> Iterator[Reason]:
    info = board.reading.board
    if needs.backends:
        yield Reason("backend", info.backend in needs.backends, f"{info.backend} boards")
    if needs.not_backends:
        met = info.backend not in needs.not_backends
        yield Reason("backend", met, f"{info.backend} boards")
    if needs.countries:
        country = _country(info.vendor)
        met_country = None if country is None else country in needs.countries
        yield Reason("country", met_country, f"{info.vendor}: {country or 'seat not known'}")
    if needs.memory is not None:
        met_memory = None if board.memory is None else board.memory >= needs.memory
        said = "not reported" if board.memory is None else f"{board.memory / 2**30:.1f} GiB free"
        yield Reason("memory", met_memory, f"{said}, {needs.memory / 2**30:.1f} GiB asked for")
    if needs.dtype is not None:
        yield _of_dtype(model, needs.dtype)
    if needs.idle:
        text = {None: "use not seen", True: "idle", False: "in use"}[board.idle]
        yield Reason("idle", board.idle, text)
    if board.health in (HealthStatus.DEGRADED, HealthStatus.FAILED):
        yield Reason("health", board.health is not HealthStatus.FAILED, board.health.value)


def _of_dtype(model: BoardModel | None, dtype: str) -> Reason:
    if model is None:
        return Reason("dtype", None, f"its model is not known, nor whether it has {dtype}")
    if dtype in model.peak_rates:
        return Reason("dtype", True, f"{dtype} {model.peak_rates[dtype] / 1e12:g} T/s nominal")
    if dtype in model.unsupported:
        return Reason("dtype", False, f"no units for {dtype}")
    return Reason("dtype", None, f"no published figure for {dtype}")


def _of_set(boards: Sequence[_Board], farthest: Relation | None, needs: Needs) -> Iterator[Reason]:
    if needs.throughput is not None:
        speeds = [board.speed for board in boards]
        known = [speed for speed in speeds if speed is not None]
        met = None if len(known) < len(speeds) else sum(known) >= needs.throughput
        text = "not known" if met is None else f"{sum(known) / 1e12:g} T/s nominal"
        yield Reason("throughput", met, f"{text}, {needs.throughput / 1e12:g} asked for")
    if len(boards) > 1 and (needs.apart is not None or farthest is not None):
        word = "not known" if farthest is None else farthest.value.upper()
        met_apart: bool | None = True
        if needs.apart is not None:
            near = farthest and _RELATIONS.index(farthest) <= _RELATIONS.index(needs.apart)
            met_apart = None if farthest is None else bool(near)
        yield Reason("apart", met_apart, f"farthest two: {word}")


def _merged(reasons: Sequence[Sequence[Reason]]) -> Iterator[Reason]:
    """Of each need the worst board's reason speaks for the set."""
    by_need: dict[str, list[Reason]] = {}
    for own in reasons:
        for reason in own:
            by_need.setdefault(reason.need, []).append(reason)
    gravity = {False: 0, None: 1, True: 2}
    for found in by_need.values():
        yield min(found, key=lambda reason: gravity[reason.met])


def _free_memory(reading: BoardReading) -> int | None:
    seen = reading.telemetry
    total = reading.board.total_memory
    if seen is not None and seen.memory_total is not None:
        total = seen.memory_total
    if total is None:
        return None
    used = 0 if seen is None or seen.memory_used is None else seen.memory_used
    return max(0, total - used)


def _speed(reading: BoardReading, model: BoardModel | None, dtype: str | None) -> float | None:
    """Nominal operations a second of one board; of a slice the share is not known."""
    if model is None or dtype is None or reading.board.parent is not None:
        return None
    rate = model.peak_rates.get(dtype)
    return None if rate is None else rate / model.chips


def _country(vendor: str) -> str | None:
    by_name: Mapping[str, str] = {row.name: row.country for row in pci.vendors().values()}
    return by_name.get(vendor)
