"""What the boards' sensors say: missing and impossible figures, heat, power, clocks, air."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields

from accelhal.doctor.board_names import board_name
from accelhal.doctor.checks.links import AT_REST, is_busy
from accelhal.doctor.commands import filled, for_board
from accelhal.doctor.facts import Facts
from accelhal.doctor.thresholds import (
    AIR_RISE,
    AT_LIMIT_SHARE,
    CLOCK_SHARE,
    CLOCK_WITHOUT_REASON,
    LEAST_MARGIN,
    WARM_INLET,
)
from accelhal.evidence.messages import IMPOSSIBLE_SIZE
from accelhal.facts import BoardReading, Finding, FindingState, Telemetry
from accelhal.facts.host_record import AirReading
from accelhal.spi.doctor import Check, Cost

_HEAT = frozenset({"thermal", "hardware_thermal", "hardware_slowdown"})
"""Words for a clock lowered by heat; a hardware slowdown is heat or the power brake."""


_GROUP = "Sensors"


def _read(facts: Facts) -> Iterator[Finding]:
    for reading in facts.readings():
        seen = reading.telemetry
        if seen is None:
            continue
        used, total = seen.memory_used, seen.memory_total
        missing = [
            field.name.replace("_", " ")
            for field in fields(Telemetry)
            if field.name != "reasons" and getattr(seen, field.name) is None
        ]
        if used is not None and total is not None and used > total:
            yield _finding(
                "sensor.read",
                "sensor.implausible",
                FindingState.WARN,
                reading,
                {"used": f"{used >> 20} MiB", "total": f"{total >> 20} MiB"},
                _SHARING,
            )
        elif missing:
            named = {"figures": ", ".join(missing)}
            yield _finding("sensor.read", "sensor.missing", FindingState.INFO, reading, named)
        else:
            yield _finding("sensor.read", "sensor.all", FindingState.OK, reading)
    yield from _impossible_sizes(facts.record.messages)


def _impossible_sizes(lines: Iterable[str]) -> Iterator[Finding]:
    """The first line of a tool with a size that no memory has."""
    line, size = next(((s, m[0]) for s in lines if (m := IMPOSSIBLE_SIZE.search(s))), ("", ""))
    if size:
        yield Finding(
            "sensor.read",
            "sensor.impossible_size",
            FindingState.WARN,
            {"size": size},
            evidence={"message": line.strip()[:200]},
            commands=_SHARING,
        )


_SHARING = ("restart the container, and update what shares the board",)


def _heat(facts: Facts) -> Iterator[Finding]:
    for reading in facts.readings():
        seen = reading.telemetry
        if seen is None or (seen.temperature is None and seen.throttle_reasons is None):
            continue
        heat = sorted(_HEAT & set(seen.throttle_reasons or ()))
        degrees = "?" if seen.temperature is None else f"{seen.temperature:.0f}"
        params: dict[str, str | int] = {"temperature": degrees, "reasons": ", ".join(heat)}
        margin = _margin(reading)
        if heat:
            hard = bool(set(heat) - {"thermal"})
            state = FindingState.FAIL if hard else FindingState.WARN
            yield _finding("thermal.throttle", "thermal.hot", state, reading, params, _COOL)
        elif margin is not None and margin < LEAST_MARGIN:
            params |= {"margin": f"{margin:.0f}", "least": f"{LEAST_MARGIN:.0f}"}
            yield _finding(
                "thermal.throttle", "thermal.near", FindingState.WARN, reading, params, _COOL
            )
        else:
            yield _finding("thermal.throttle", "thermal.cool", FindingState.OK, reading, params)


_COOL = (
    "look at fans, filters and the air around the board",
    "accelhal doctor --deep thermal.air",
    "accelhal doctor --watch 60",
)


def _margin(reading: BoardReading) -> float | None:
    """Degrees up to the slowdown; None where either is unknown."""
    limit = None if reading.details is None else reading.details.slowdown_temperature
    now = None if reading.telemetry is None else reading.telemetry.temperature
    return None if limit is None or now is None else limit - now


def _air(facts: Facts) -> Iterator[Finding]:
    if facts.live and not facts.readings():
        return
    judged = [finding for reading in facts.air for finding in _of_air(reading)]
    yield from judged or [Finding("thermal.air", "air.none", FindingState.OK)]


def _of_air(reading: AirReading) -> Iterator[Finding]:
    inlet, outlet = reading.inlet, reading.outlet
    rise = None if inlet is None or outlet is None else outlet - inlet
    params: dict[str, str | int] = {
        "inlet": "?" if inlet is None else f"{inlet:.0f}",
        "rise": "?" if rise is None else f"{rise:.0f}",
    }
    loud = False
    if inlet is not None and inlet >= WARM_INLET:
        loud = True
        yield _of_host("air.warm", params | {"limit": f"{WARM_INLET:.0f}"})
    if rise is not None and rise >= AIR_RISE:
        loud = True
        yield _of_host("air.rise", params | {"limit": f"{AIR_RISE:.0f}"})
    if not loud and inlet is not None:
        yield Finding("thermal.air", "air.fine", FindingState.OK, params)


def _of_host(code: str, params: Mapping[str, str | int]) -> Finding:
    commands = ("look at fans, filters, blanks of empty slots and the room's cooling",)
    return Finding("thermal.air", code, FindingState.WARN, params, commands=commands)


def _power(facts: Facts) -> Iterator[Finding]:
    for reading in facts.readings():
        seen, details = reading.telemetry, reading.details
        limit = None if seen is None else seen.power_limit
        if seen is None or limit is None:
            continue
        default = None if details is None else details.default_power_limit
        reasons = set(seen.throttle_reasons or ())
        params: dict[str, str | int] = {"limit": f"{limit:.0f}", "power": f"{seen.power or 0:.0f}"}
        if "power_brake" in reasons:
            commands: tuple[str, ...] = ("look at the power supplies and the machine's power cap",)
            yield _finding(
                "power.limit", "power.brake", FindingState.FAIL, reading, params, commands
            )
        elif default is not None and limit < AT_LIMIT_SHARE * default:
            params["default"] = f"{default:.0f}"
            commands = _of_vendor(facts, reading, "power_resets", {"watts": f"{default:.0f}"})
            yield _finding(
                "power.limit", "power.lowered", FindingState.WARN, reading, params, commands
            )
        elif "power_cap" in reasons and seen.power is not None and seen.power < 0.8 * limit:
            commands = ("look at the machine's power cap", "accelhal doctor --watch 60")
            yield _finding(
                "power.limit", "power.cap_below_limit", FindingState.WARN, reading, params, commands
            )
        else:
            yield _finding("power.limit", "power.full", FindingState.OK, reading, params)


def _clock(facts: Facts) -> Iterator[Finding]:
    for reading in facts.readings():
        seen, details = reading.telemetry, reading.details
        most = None if details is None else details.max_core_clock
        if seen is None or seen.core_clock is None or not most:
            continue
        params: dict[str, str | int] = {
            "clock": f"{seen.core_clock:.0f}",
            "most": f"{most:.0f}",
            "least": f"{CLOCK_SHARE * most:.0f}",
        }
        share = seen.core_clock / most
        if not is_busy(reading) or seen.throttle_reasons is None:
            code = "clock.full" if is_busy(reading) else "clock.idle"
            yield _finding("clock.low", code, FindingState.OK, reading, params)
            continue
        reasons = sorted(set(seen.throttle_reasons) - AT_REST)
        params["reasons"] = ", ".join(reasons)
        if not reasons and share < CLOCK_WITHOUT_REASON:
            commands = (*_of_vendor(facts, reading, "clock_resets"), "reboot the host")
            yield _finding(
                "clock.low", "clock.pinned", FindingState.FAIL, reading, params, commands
            )
        elif share < CLOCK_SHARE and set(reasons) - {"power_cap"}:
            heat = bool(_HEAT & set(reasons))
            commands = _COOL if heat else _of_vendor(facts, reading, "clock_resets")
            state = FindingState.FAIL if heat else FindingState.WARN
            yield _finding("clock.low", "clock.held", state, reading, params, commands)
        else:
            yield _finding("clock.low", "clock.full", FindingState.OK, reading, params)


def _reasons(facts: Facts) -> Iterator[Finding]:
    for reading in facts.readings():
        seen = reading.telemetry
        if seen is None or seen.throttle_reasons is None:
            continue
        reasons = sorted(set(seen.throttle_reasons) - AT_REST)
        named = {"reasons": ", ".join(reasons)}
        if reasons:
            state = FindingState.INFO
            yield _finding("clock.reasons", "reasons.some", state, reading, named)
        else:
            yield _finding("clock.reasons", "reasons.none", FindingState.OK, reading)


def _of_vendor(
    facts: Facts, reading: BoardReading, field: str, more: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """The vendor's commands of one kind for the board."""
    spec = facts.spec(reading.board.backend)
    commands: tuple[str, ...] = () if spec is None else getattr(facts.vendor_host(spec), field)
    return for_board(filled(commands, more or {}), reading)


def _finding(
    check: str,
    code: str,
    state: FindingState,
    reading: BoardReading,
    params: Mapping[str, str | int] | None = None,
    commands: tuple[str, ...] = (),
) -> Finding:
    root = any(command.startswith("sudo") for command in commands)
    return Finding(
        check, code, state, params or {}, board_name(reading), commands=commands, needs_root=root
    )


READ = Check(
    "sensor.read",
    _GROUP,
    "figures that boards do not report, and figures that cannot be",
    ("the drivers' sensors",),
    _read,
    depends_on=("device.lost",),
    explanation="A figure that a board does not report is unknown, never zero, and no fault. More "
    "memory used than there is comes from a counter that went below zero.",
)
HEAT = Check(
    "thermal.throttle",
    _GROUP,
    "boards slowed by heat, or near it",
    ("the drivers' sensors",),
    _heat,
    depends_on=("device.lost",),
    explanation="A slowdown by the hardware itself is a failure, one by the driver a warning; less "
    f"than {LEAST_MARGIN:.0f} °C below the slowdown is a warning too. Temperatures are compared "
    "with the board's own thresholds; where it reports none, only its word for a slowdown counts.",
)
AIR = Check(
    "thermal.air",
    _GROUP,
    "the air that enters and leaves the machine",
    ("the machine's board management: ipmitool",),
    _air,
    Cost.CHILD,
    explanation=f"Air that enters at {WARM_INLET:.0f} °C or more, or leaves {AIR_RISE:.0f} °C "
    "warmer, is warned of: fans, filters, blanks, the room. A machine without a readable board "
    "management is not judged, and no inlet is guessed from a board's temperature.",
)
POWER = Check(
    "power.limit",
    _GROUP,
    "lowered power limits, power caps and the power brake",
    ("the drivers' sensors",),
    _power,
    depends_on=("device.lost",),
    explanation=f"A limit below {AT_LIMIT_SHARE:.0%} of the one the board is delivered with slows "
    "work that needs the power. The power brake is pulled by the machine: a supply failed, or a "
    "cap was set.",
)
CLOCK = Check(
    "clock.low",
    _GROUP,
    "clocks below the highest while work runs",
    ("the drivers' sensors",),
    _clock,
    depends_on=("device.lost", "thermal.throttle"),
    explanation="Judged only under load. Below "
    f"{CLOCK_SHARE:.0%} of the highest clock with a reason, or below {CLOCK_WITHOUT_REASON:.0%} "
    "without any: then a setting locks it, or the firmware is stuck and takes a reboot.",
)
REASONS = Check(
    "clock.reasons",
    _GROUP,
    "what holds the boards' clocks back now",
    ("the drivers' sensors",),
    _reasons,
    depends_on=("device.lost",),
    explanation="The driver's own words for a lowered clock, for information: power caps are "
    "normal under heavy work, application clocks are set by somebody, idle boards have low clocks.",
)
