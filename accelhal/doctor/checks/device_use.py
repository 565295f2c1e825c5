"""Who uses the boards: may another process join, and is the work spread over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from accelhal.doctor.board_names import board_name
from accelhal.doctor.commands import for_board
from accelhal.doctor.facts import Facts
from accelhal.doctor.presence import of_each_vendor
from accelhal.doctor.thresholds import BUSY_PERCENT, HELD_SHARE
from accelhal.facts import BoardReading, Finding, FindingState
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check, NotShownError, VendorHost

_BUSY_ID = "device.busy"
_BALANCE_ID = "device.balance"


# ---- device.busy


def _busy(facts: Facts) -> Iterator[Finding]:
    yield from of_each_vendor(_BUSY_ID, facts, _judge_busy)


def _judge_busy(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Iterator[Finding]:
    readings = _whole(facts.readings(spec.name))
    if not any(_is_seen(reading) for reading in readings):
        raise NotShownError("who uses the boards", commands=vendor.who_holds)
    for reading in readings:
        if _is_seen(reading):
            yield _of_board(reading, vendor, facts)


def _is_seen(reading: BoardReading) -> bool:
    mode = reading.details.compute_mode if reading.details is not None else None
    return reading.processes is not None or mode is not None


def _of_board(reading: BoardReading, vendor: VendorHost, facts: Facts) -> Finding:
    mode = (reading.details.compute_mode if reading.details is not None else None) or ""
    pids = [str(process.pid) for process in reading.processes or ()]
    state, commands = FindingState.OK, tuple[str, ...]()
    if mode.startswith("prohibited"):
        code, state, commands = "busy.prohibited", FindingState.FAIL, vendor.share_board
    elif mode.startswith("exclusive") and pids:
        code, state, commands = "busy.exclusive", FindingState.WARN, vendor.share_board
    elif pids:
        code, state = "busy.held", FindingState.INFO
    elif reading.processes == () and _holds_memory(reading) and not facts.contained:
        code, state, commands = "busy.no_owner", FindingState.INFO, vendor.who_holds
    else:
        code = "busy.free"
    if pids and state is not FindingState.OK:
        commands = (f"ps -o pid,user,etime,comm -p {','.join(pids)}", *commands)
    return Finding(
        _BUSY_ID,
        code,
        state,
        {"mode": mode, "pids": ", ".join(pids) or "none"},
        board_name(reading),
        {"processes": ", ".join(pids) or "none seen", "mode": mode or "not shown"},
        for_board(commands, reading),
        needs_root=code in ("busy.prohibited", "busy.exclusive"),
    )


def _holds_memory(reading: BoardReading) -> bool:
    seen = reading.telemetry
    if seen is None or seen.memory_used is None or not seen.memory_total:
        return False
    return seen.memory_used > HELD_SHARE * seen.memory_total


BUSY = Check(
    _BUSY_ID,
    "Devices",
    "whether another process may use each board, and who holds it now",
    ("the driver's library: compute mode and processes", "messages of programs"),
    _busy,
    depends_on=("driver.module",),
    explanation="A board in an exclusive mode that is held refuses the next process, one in the "
    "prohibited mode refuses all; some drivers give a board to one container at a time. Holders "
    "are named by their process ids alone, for those of other containers are not seen: where a "
    "message says that a board is in use and no process shows, look on the host. Held boards in "
    "the default mode are only named.",
)


# ---- device.balance


def _balance(facts: Facts) -> Iterator[Finding]:
    yield from of_each_vendor(_BALANCE_ID, facts, _judge_balance)


def _judge_balance(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Iterator[Finding]:
    readings = _whole(facts.readings(spec.name))
    if len(readings) < 2:
        yield Finding(_BALANCE_ID, "balance.one_board", FindingState.OK, device=spec.name)
        return
    seen = [reading for reading in readings if reading.processes is not None]
    if len(seen) < len(readings):
        raise NotShownError("the processes on the boards", commands=vendor.who_holds)
    crowded = [reading for reading in seen if _is_crowded(reading)]
    idle = [reading for reading in seen if _is_idle(reading)]
    if crowded and len(idle) * 2 >= len(seen):
        yield Finding(
            _BALANCE_ID,
            "balance.crowded",
            FindingState.WARN,
            {
                "boards": ", ".join(map(board_name, crowded)),
                "processes": sum(len(reading.processes or ()) for reading in crowded),
                "idle": len(idle),
            },
            spec.name,
            {board_name(reading): f"{len(reading.processes or ())} processes" for reading in seen},
            commands=(
                *vendor.who_holds,
                *(f"env | grep {mask.variable}" for mask in spec.visible_devices[:1]),
            ),
        )
    else:
        yield Finding(
            _BALANCE_ID,
            "balance.even",
            FindingState.OK,
            {"idle": len(idle), "count": len(seen)},
            spec.name,
        )


def _is_crowded(reading: BoardReading) -> bool:
    """Several processes that hold or do something: desktops keep two small ones on a board."""
    if len(reading.processes or ()) < 2:
        return False
    return _is_working(reading) or _holds_memory(reading) or _held(reading) > HELD_SHARE


def _is_working(reading: BoardReading) -> bool:
    seen = reading.telemetry
    return seen is not None and seen.utilization is not None and seen.utilization > BUSY_PERCENT


def _held(reading: BoardReading) -> float:
    """Share of the memory that the processes hold; 0 where it is not known."""
    seen = reading.telemetry
    total = reading.board.total_memory or (seen.memory_total if seen is not None else None)
    return sum(one.used or 0 for one in reading.processes or ()) / total if total else 0.0


def _is_idle(reading: BoardReading) -> bool:
    return not (reading.processes or _is_working(reading) or _holds_memory(reading))


def _whole(readings: Sequence[BoardReading]) -> list[BoardReading]:
    """The boards that the driver lists, without the slices cut from them."""
    return [one for one in readings if one.board.parent is None and one.board.key is not None]


BALANCE = Check(
    _BALANCE_ID,
    "Devices",
    "whether processes crowd on some boards while others have nothing to do",
    ("the driver's library: processes, memory, utilisation",),
    _balance,
    depends_on=("driver.module",),
    explanation=f"A warning where two or more processes share a board, which is in use (more than "
    f"{BUSY_PERCENT:g} % utilisation or {HELD_SHARE:.0%} of its memory held), while at least half "
    "of the boards have no process at all: a scheduler or a mask sends them all to the same board. "
    "Boards that are idle together, and a single process, are no imbalance.",
)
