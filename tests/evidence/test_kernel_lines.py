"""A snapshot keeps of a kernel log what rules on boards could use, and not who built the kernel."""

from __future__ import annotations

from hypothesis import given, strategies as st

from accelhal.evidence.kernel_lines import MOST_LINES, TRACE_LINES, telling
from accelhal.spi.fault_log import count_restarts

FAULT = "[    1.000000] toy 0000:03:00.0: TOYFAULT 7"
QUIET = "[    2.000000] usb 1-1: new device"
START = "[    0.000000] Linux version 6.1 (ann@builder7)"
BOOT = "-- Boot 0123456789abcdef0123456789abcdef --"
LOCKUP = "[    3.000000] watchdog: BUG: soft lockup - CPU#3 stuck for 22s!"


def test_lines_of_other_things_are_left_out() -> None:
    killed = "Out of memory: Killed process 7 (python)"
    assert telling([QUIET, FAULT, QUIET, killed], ["TOYFAULT"]) == (FAULT, killed)


def test_the_trace_of_a_lockup_is_kept_and_no_more() -> None:
    assert telling([LOCKUP] + [QUIET] * 100, []) == (LOCKUP, *[QUIET] * (TRACE_LINES - 1))


def test_a_start_is_kept_without_who_built_the_kernel() -> None:
    start = "[    0.000000] Linux version 5.15.0 (ann@builder7) (gcc 11)"
    assert telling([start], []) == ("[    0.000000] Linux version 5.15.0",)


def test_of_too_many_lines_the_latest_are_kept() -> None:
    lines = [f"{FAULT} {number}" for number in range(MOST_LINES + 5)]
    assert telling(lines, ["TOYFAULT"]) == tuple(lines[5:])


@given(st.lists(st.sampled_from([FAULT, QUIET, LOCKUP]), max_size=200))
def test_what_is_kept_is_in_its_order_and_keeps_all_faults(lines: list[str]) -> None:
    kept = telling(lines, ["TOYFAULT"])
    rest = iter(lines)
    assert all(line in rest for line in kept)
    assert kept.count(FAULT) == lines.count(FAULT)


@given(st.lists(st.sampled_from([FAULT, QUIET, START, BOOT, "", LOCKUP]), max_size=20))
def test_as_many_starts_are_counted_as_in_the_whole_log(lines: list[str]) -> None:
    assert count_restarts(telling(lines, ["TOYFAULT"])) == count_restarts(lines)
