"""The boards' own faults: lost boards, memory errors and repairs, what their drivers report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from accelhal.doctor.board_names import board_name
from accelhal.doctor.commands import for_board
from accelhal.doctor.facts import Facts
from accelhal.doctor.fault_verdict import judge_faults, judge_memory_errors
from accelhal.facts import (
    BoardReading,
    Finding,
    FindingState,
    HealthCheck,
    HealthStatus,
    MemoryErrors,
)
from accelhal.facts.faults import Fault, FaultAction, FaultEvent
from accelhal.facts.sources import Strength
from accelhal.registry.extensions import load_extension
from accelhal.spi.doctor import Check, VendorHost
from accelhal.spi.fault_tables import FaultTables

_SILENT = ("bus", "answers")
"""Health checks that say whether the board answers."""

_ASKED = ("recovery", "inforom")
"""Health checks by which the driver asks for an action."""

_JUDGED_ELSEWHERE = (
    *_SILENT,
    *_ASKED,
    "ecc",
    "row_remap",
    "page_isolation",
    "repair",
    "throttle",
    "link",
)
"""Health checks that have checks of their own here."""

_STATES = {HealthStatus.FAILED: FindingState.FAIL, HealthStatus.DEGRADED: FindingState.WARN}

_GROUP = "Hardware"


def _lost(facts: Facts) -> Iterator[Finding]:
    for reading in facts.readings():
        silent = next((c for c in _checks(reading, _SILENT) if c.status in _STATES), None)
        if silent is not None:
            commands = (
                *_remedy(facts, reading, FaultAction.RESET),
                "sudo dmesg | tail -50",
                "reboot; if it does not come back: power off, reseat the board, check its power "
                "and air",
            )
            yield _loud(
                "device.lost",
                "lost.gone",
                FindingState.FAIL,
                reading,
                {"value": silent.value or "", "detail": silent.detail},
                commands,
            )
        elif reading.health is not None and reading.health.checks:
            yield _calm("device.lost", "lost.answers", reading)


def _memory_errors(facts: Facts) -> Iterator[Finding]:
    for reading in facts.readings():
        errors = reading.memory_errors
        if reading.details is not None and reading.details.ecc is False:
            yield _calm("hw.ecc", "ecc.off", reading, state=FindingState.INFO)
        elif errors is None or errors.uncorrected is None:
            continue
        elif errors.uncorrected:
            yield _loud(
                "hw.ecc",
                "ecc.uncorrected",
                judge_memory_errors(MemoryErrors(uncorrected=errors.uncorrected)).state,
                reading,
                {"count": errors.uncorrected},
                (
                    "drain the board: let no new job start on it",
                    *_remedy(facts, reading, FaultAction.RESET),
                ),
            )
        elif errors.uncorrected_total:
            params = {"total": errors.uncorrected_total}
            yield _calm("hw.ecc", "ecc.history", reading, params, FindingState.INFO)
        else:
            yield _calm("hw.ecc", "ecc.clean", reading)


def _repairs(facts: Facts) -> Iterator[Finding]:
    for reading in facts.readings():
        errors = reading.memory_errors
        if errors is None:
            continue
        warned, failed = _limits(facts, reading)
        count = errors.repaired or 0
        if errors.repair_failed:
            yield _loud("hw.remap", "remap.failed", FindingState.FAIL, reading, {}, _RMA)
        elif count >= warned:
            state = FindingState.FAIL if count >= failed else FindingState.WARN
            params = {"count": count, "limit": failed}
            yield _loud("hw.remap", "remap.many", state, reading, params, _RMA)
        elif errors.repair_pending:
            commands = _remedy(facts, reading, FaultAction.RESET)
            yield _loud("hw.remap", "remap.pending", FindingState.WARN, reading, {}, commands)
        elif errors.repair_pending is not None or errors.repaired is not None:
            yield _calm("hw.remap", "remap.none", reading)


_RMA = ("collect the vendor's log, and have the board replaced",)


def _reported(facts: Facts) -> Iterator[Finding]:
    for reading in facts.readings():
        if reading.health is None:
            continue
        table = _faults(facts, reading)
        wrong = [
            check
            for check in reading.health.checks
            if check.status in _STATES and check.name not in _JUDGED_ELSEWHERE
        ]
        coded = [check for check in wrong if check.value and _listed(table, check) is not None]
        for check in coded or wrong:
            yield _of_driver(check, _listed(table, check), reading, facts)
        if not wrong and reading.health.checks:
            yield _calm("hw.fault_codes", "codes.none", reading)


def _of_driver(
    check: HealthCheck, fault: Fault | None, reading: BoardReading, facts: Facts
) -> Finding:
    if fault is None:
        params = {"name": check.name, "value": check.value or "", "detail": check.detail}
        commands = _remedy(facts, reading, FaultAction.COLLECT) or ("sudo dmesg | tail -50",)
        state = _STATES[check.status]
        return _loud("hw.fault_codes", "codes.unlisted", state, reading, params, commands)
    verdict = judge_faults([FaultEvent(fault=fault)])
    params = {"code": fault.code, "meaning": fault.meaning, "follow_up": fault.follow_up}
    commands = _remedy(facts, reading, verdict.action)
    return _loud(
        "hw.fault_codes",
        "codes.listed",
        as_sure_as_its_source(verdict.state, fault),
        reading,
        params,
        commands,
        refs=(fault.source.text,),
    )


def _actions(facts: Facts) -> Iterator[Finding]:
    for reading in facts.readings():
        asked = _checks(reading, _ASKED)
        wrong = next((check for check in asked if check.status in _STATES), None)
        if wrong is not None:
            params = {"value": wrong.value or "look at the board", "detail": wrong.detail}
            commands = _remedy(facts, reading, FaultAction.RESET)
            yield _loud(
                "hw.inforom", "inforom.action", FindingState.FAIL, reading, params, commands
            )
        elif asked:
            yield _calm("hw.inforom", "inforom.none", reading)


# ---- what they share


def as_sure_as_its_source(state: FindingState, fault: Fault) -> FindingState:
    """A failure that nothing but general knowledge speaks for is a warning."""
    sure = fault.source.strength is not Strength.UNVERIFIED
    return state if sure or state is not FindingState.FAIL else FindingState.WARN


def _checks(reading: BoardReading, names: tuple[str, ...]) -> list[HealthCheck]:
    return [c for c in (reading.health.checks if reading.health else ()) if c.name in names]


def _limits(facts: Facts, reading: BoardReading) -> tuple[int, int]:
    spec = facts.spec(reading.board.backend)
    host = VendorHost() if spec is None else facts.vendor_host(spec)
    return host.repair_limits


def _faults(facts: Facts, reading: BoardReading) -> FaultTables | None:
    spec = facts.spec(reading.board.backend)
    return None if spec is None else load_extension(spec, "faults", FaultTables)


def _listed(tables: FaultTables | None, check: HealthCheck) -> Fault | None:
    if tables is None or not check.value:
        return None
    table = tables.read()
    found = (table.find(family, check.value) for family in table.families)
    return next((fault for fault in found if fault is not None and fault.listed), None)


def _remedy(facts: Facts, reading: BoardReading, action: FaultAction) -> tuple[str, ...]:
    """The vendor's commands for an action, else the action in words."""
    spec = facts.spec(reading.board.backend)
    known = {} if spec is None else facts.vendor_host(spec).remedies
    return for_board(known.get(action, ACTIONS[action]), reading)


ACTIONS: Mapping[FaultAction, tuple[str, ...]] = {
    FaultAction.NONE: (),
    FaultAction.APP: ("restart the job; look for its own error first",),
    FaultAction.CONFIG: ("look at how the job or container was set up",),
    FaultAction.COLLECT: ("collect the vendor's log, and ask the vendor",),
    FaultAction.LINK: ("look at bridges, cables and switches of the link",),
    FaultAction.MECHANICAL: ("look at power, seat and air of the board",),
    FaultAction.DRIVER: ("reinstall the driver for the running kernel",),
    FaultAction.RESET: ("end the jobs on the board and reset it",),
    FaultAction.REBOOT: ("reboot the host",),
    FaultAction.RMA: _RMA,
}
"""What to do where a vendor's plugin has no command for it."""

_DISTURBING = frozenset({"device.lost", "hw.ecc", "hw.remap", "hw.fault_codes", "hw.inforom"})


def _loud(
    check: str,
    code: str,
    state: FindingState,
    reading: BoardReading,
    params: Mapping[str, str | int],
    commands: tuple[str, ...],
    refs: tuple[str, ...] = (),
) -> Finding:
    return Finding(
        check,
        code,
        state,
        params,
        board_name(reading),
        commands=commands,
        needs_root=True,
        disturbs=check in _DISTURBING,
        refs=refs,
    )


def _calm(
    check: str,
    code: str,
    reading: BoardReading,
    params: Mapping[str, str | int] | None = None,
    state: FindingState = FindingState.OK,
) -> Finding:
    return Finding(check, code, state, params or {}, board_name(reading))


LOST = Check(
    "device.lost",
    _GROUP,
    "whether every board answers its driver",
    ("the drivers' libraries",),
    _lost,
    depends_on=("driver.module",),
    explanation="A board that the bus still shows and the driver cannot reach fell off the bus, "
    "lost power or shut itself down for heat. Read the kernel log, reset the board, then reboot; "
    "a board that is lost again is to be reseated, then replaced.",
)
ECC = Check(
    "hw.ecc",
    _GROUP,
    "memory errors that could not be corrected, since the driver was loaded",
    ("the drivers' counters",),
    _memory_errors,
    depends_on=("device.lost",),
    explanation="Uncorrected errors since load mean wrong results or ended jobs: drain the board "
    "and reset it. Totals over the board's life are history and no fault. Growth is judged by "
    "--watch.",
)
REMAP = Check(
    "hw.remap",
    _GROUP,
    "repairs of the boards' memory: pending, failed, too many",
    ("the drivers' counters",),
    _repairs,
    depends_on=("device.lost",),
    explanation="Boards map bad memory out: rows, pages or banks. A pending repair needs a reset; "
    "a failed one, or more repairs than the vendor allows for, another board.",
)
FAULT_CODES = Check(
    "hw.fault_codes",
    _GROUP,
    "faults that the drivers report of the boards now",
    ("the drivers' health reports", "the vendors' tables of faults"),
    _reported,
    depends_on=("device.lost",),
    explanation="Each vendor numbers its faults. A number is looked up in the vendor's table, "
    "which says how grave it is and what to do; one that no table has is reported as it is.",
)
INFOROM = Check(
    "hw.inforom",
    _GROUP,
    "whether the driver asks for an action on a board",
    ("the drivers' health reports",),
    _actions,
    depends_on=("device.lost",),
    explanation="Drivers ask for a reset, a drain or a restart after faults. Until it is done, "
    "jobs on the board fail or give wrong results.",
)
