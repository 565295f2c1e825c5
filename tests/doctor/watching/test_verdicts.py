"""What samples of a minute say: of jobs alone, and only what they show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from doctor.cases.evidence_of import boards, snapshot

from accelhal.doctor.catalogue import catalogue
from accelhal.doctor.checks.performance_heartbeat import heartbeats
from accelhal.doctor.engine import run_checks
from accelhal.doctor.facts import Facts
from accelhal.doctor.watching.window import BoardWindow
from accelhal.facts import (
    BoardDetails,
    Finding,
    FindingState,
    MemoryErrors,
    PcieLink,
    ProcessMemory,
    Telemetry,
)
from accelhal.management.sampler import Sample
from accelhal.spi.doctor import Cost

OK, INFO, SKIP, UNKNOWN = (
    FindingState.OK,
    FindingState.INFO,
    FindingState.SKIP,
    FindingState.UNKNOWN,
)
WARN, FAIL = FindingState.WARN, FindingState.FAIL
GEN4 = {"generation": 4, "max_generation": 4, "lanes": 16, "max_lanes": 16}


def window(
    backend: str = "npu",
    *,
    seconds: int = 60,
    pids: frozenset[int] | None = frozenset({7}),
    answers: bool = True,
    details: BoardDetails | None = None,
    sample: Callable[[int], dict[str, Any]] = lambda second: {},
    pcie: PcieLink | None = None,
    **telemetry: Any,
) -> BoardWindow:
    """A board with a job at work; `sample` replaces readings of single seconds."""
    seen = Telemetry(**{"utilization": 99.0, "power": 300.0, "power_limit": 400.0, **telemetry})
    readings = {"telemetry": seen, "pcie": pcie or PcieLink(), "memory_errors": MemoryErrors()}
    (reading,) = boards(backend, 1, details=details)
    samples = tuple(
        Sample(1000.0 + second, {**readings, **sample(second)}) for second in range(seconds)
    )
    return BoardWindow(reading, samples, pids, answers, float(seconds))


def judged(check: str, *windows: BoardWindow) -> Finding:
    """What a check finds of the first of these boards."""
    facts = Facts(watch_s=60.0)
    facts.__dict__["watched"] = windows
    found = run_checks(catalogue().select([check]), facts, scene=set(Cost)).findings
    return found[0]


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        ({"seconds": 20}, "20 s of samples"),
        ({"pids": frozenset()}, "no process"),
        ({"pids": None}, "does not list"),
        ({"power": 60.0}, "as at rest"),
    ],
)
@pytest.mark.parametrize("check", ["perf.util", "perf.membw", "perf.transfer", "perf.throttle"])
def test_nothing_is_said_where_no_job_ran(check: str, seen: dict[str, Any], why: str) -> None:
    found = judged(check, window(**{"utilization": 20.0, **seen}))
    assert (found.code, found.state) == ("watch.no_job", SKIP)
    assert why in str(found.params["reason"])


def test_a_container_that_hides_processes_shows_the_memory_they_hold() -> None:
    held = {"memory_used": 40 << 30, "memory_total": 80 << 30}
    assert judged("perf.util", window(pids=frozenset(), **held)).state is OK


def test_rest_is_told_by_a_sibling_at_rest() -> None:
    job = window(power=110.0)
    sibling = window(pids=frozenset(), utilization=0.0, power=60.0)
    assert judged("perf.util", job, sibling).state is OK
    near = window(power=64.0)
    assert judged("perf.util", near, sibling).state is SKIP


@pytest.mark.parametrize(
    ("percent", "power", "busy", "code", "state"),
    [
        (80.0, 380.0, 99.0, "high", OK),
        (25.0, 380.0, 99.0, "other_work", INFO),  # a matrix product
        (25.0, 160.0, 50.0, "other_work", INFO),  # it waits: that is utilisation's to say
        (25.0, 160.0, 99.0, "low", WARN),
    ],
)
def test_bandwidth_matters_where_nothing_else_works(
    percent: float, power: float, busy: float, code: str, state: FindingState
) -> None:
    seen = window(power=power, utilization=busy, memory_bandwidth_utilization=percent)
    found = judged("perf.membw", seen)
    assert (found.code, found.state) == (f"membw.{code}", state)


def test_a_share_of_time_proves_only_low_bandwidth() -> None:
    high = window("cuda", memory_bandwidth_utilization=90.0)
    assert judged("perf.membw", high).code == "membw.time_share"
    low = window("cuda", memory_bandwidth_utilization=10.0, power=160.0)
    assert judged("perf.membw", low).code == "membw.low"


@pytest.mark.parametrize("check", ["perf.membw", "perf.transfer"])
def test_what_is_not_read_is_unknown(check: str) -> None:
    found = judged(check, window(reasons={"memory_bandwidth_utilization": "no such field"}))
    assert (found.code, found.state) == ("watch.not_read", UNKNOWN)


@pytest.mark.parametrize(
    ("rate", "busy", "code"),
    [
        (1e9, 50.0, "transfer.little"),
        (8e9, 50.0, "transfer.some"),
        (20e9, 50.0, "transfer.much"),
        (20e9, 99.0, "transfer.some"),  # copies beside work cost nothing
    ],
)
def test_copies_that_the_work_waits_for(rate: float, busy: float, code: str) -> None:
    link = PcieLink(received=rate, sent=0.0, **GEN4)
    found = judged("perf.transfer", window(utilization=busy, pcie=link))
    assert found.code == code
    assert (found.state is WARN) == (code == "transfer.much")


@pytest.mark.parametrize(
    ("reasons", "limit", "code"),
    [
        ((), 400.0, "throttle.none"),
        (("idle",), 400.0, "throttle.none"),
        (("power_cap",), 400.0, "throttle.by_design"),
        (("application_clocks",), 400.0, "throttle.by_design"),
        (("power_cap",), 300.0, "throttle.held_back"),
        (("power_cap", "thermal"), 400.0, "throttle.held_back"),
        (("power_brake",), 400.0, "throttle.held_back"),
    ],
)
def test_who_holds_a_board_back(reasons: tuple[str, ...], limit: float, code: str) -> None:
    details = BoardDetails(default_power_limit=400.0)
    seen = window(details=details, power_limit=limit, throttle_reasons=reasons)
    assert judged("perf.throttle", seen).code == code


def test_one_throttled_sample_is_nothing() -> None:
    def hot_once(second: int) -> dict[str, Any]:
        reasons = ("thermal",) if second == 30 else ()
        telemetry = Telemetry(
            utilization=99.0, power=300.0, power_limit=400.0, throttle_reasons=reasons
        )
        return {"telemetry": telemetry}

    assert judged("perf.throttle", window(sample=hot_once)).code == "throttle.none"


@pytest.mark.parametrize(
    ("field", "each", "code"),
    [
        ("uncorrected", 0, "errors.none"),
        ("corrected", 0, "errors.none"),
        ("uncorrected", 1, "errors.uncorrected"),
        ("corrected", 1, "errors.corrected"),
    ],
)
def test_errors_that_were_there_before_are_no_growth(field: str, each: int, code: str) -> None:
    seen = window(
        sample=lambda second: {"memory_errors": MemoryErrors(**{field: 500 + each * second})}
    )
    assert judged("perf.memory_errors", seen).code == code


# ---- perf.spin over a window


def spinning(**more: Any) -> dict[str, Any]:
    return {"power": 70.0, "utilization": 100.0, **more}


QUIET = PcieLink(received=0.0, sent=2e3, **GEN4)


@pytest.mark.parametrize(
    ("seen", "code", "state"),
    [
        (spinning(memory_bandwidth_utilization=0.0, pcie=QUIET), "spin.hangs", FAIL),
        (spinning(pcie=QUIET), "spin.waits", WARN),
        (spinning(), "spin.waits", WARN),
        (spinning(seconds=20), "watch.no_job", SKIP),
        (spinning(pids=frozenset()), "watch.no_job", SKIP),
        (spinning(memory_bandwidth_utilization=5.0, pcie=QUIET), "spin.works", OK),
        (spinning(pcie=PcieLink(received=2e8, sent=0.0)), "spin.works", OK),
        (spinning(power=180.0), "spin.works", OK),
        (spinning(utilization=60.0), "spin.works", OK),
    ],
)
def test_a_hang_is_busy_without_power_traffic_or_memory(
    seen: dict[str, Any], code: str, state: FindingState
) -> None:
    found = judged("perf.spin", window(**seen))
    assert (found.code, found.state) == (code, state)


def test_one_second_of_work_is_no_hang() -> None:
    def works_once(second: int) -> dict[str, Any]:
        power = 350.0 if second == 40 else 70.0
        return {"telemetry": Telemetry(utilization=100.0, power=power, power_limit=400.0)}

    assert judged("perf.spin", window(sample=works_once, pcie=QUIET)).code == "spin.works"


def test_a_live_host_without_watch_is_told_to_watch() -> None:
    seen = Telemetry(utilization=100.0, power=70.0, power_limit=400.0)
    facts = Facts()
    facts.__dict__["snapshot"] = snapshot(
        "npu", boards("npu", 1, telemetry=seen, processes=(ProcessMemory(7, None),))
    )
    (found,) = run_checks(catalogue().select(["perf.spin"]), facts).findings
    assert (found.code, found.state) == ("spin.suspected", INFO)
    assert found.commands == ("accelhal doctor --watch 60 perf.spin",)


# ---- hb.alive


def silent(seconds: range) -> Callable[[int], dict[str, Any]]:
    def sample(second: int) -> dict[str, Any]:
        return {"telemetry": TimeoutError("no answer")} if second in seconds else {}

    return sample


@pytest.mark.parametrize(
    ("missing", "answers", "code", "state"),
    [
        (range(0), True, "beat.all", OK),
        (range(12, 14), True, "beat.all", OK),
        (range(10, 15), True, "beat.some", INFO),
        (range(10, 25), True, "beat.returned", WARN),
        (range(10, 60), False, "beat.lost", FAIL),
    ],
)
def test_three_missed_beats_are_looked_into(
    missing: range, answers: bool, code: str, state: FindingState
) -> None:
    found = judged("hb.alive", window(sample=silent(missing), answers=answers))
    assert (found.code, found.state) == (code, state)


def test_a_reading_that_hangs_is_silence_too() -> None:
    seen = window()
    late = BoardWindow(seen.reading, (*seen.samples[:10], *seen.samples[40:]), None, True, 60.0)
    assert heartbeats(late) == [True] * 2 + [False] * 6 + [True] * 4
