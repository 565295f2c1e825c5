"""Whether the driver answers for each board, beat by beat, while it is watched."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from accelhal.doctor.board_names import board_name
from accelhal.doctor.facts import Facts
from accelhal.doctor.thresholds import BEAT_S, MISSED_BEATS
from accelhal.doctor.watching.window import BoardWindow, is_answer
from accelhal.facts import Finding, FindingState
from accelhal.spi.doctor import Check, Cost

_ID = "hb.alive"


def _alive(facts: Facts) -> Iterator[Finding]:
    if not facts.watched:
        yield Finding(_ID, "watch.no_board", FindingState.SKIP)
    for window in facts.watched:
        beats = heartbeats(window)
        missed = max((len(list(run)) for beat, run in groupby(beats) if not beat), default=0)
        name = board_name(window.reading)
        params: dict[str, str | int | float] = {
            "missed": missed,
            "beats": len(beats),
            "seconds": round(missed * BEAT_S),
        }
        lost = ("accelhal doctor device.lost kernel.log hw.xid",)
        if missed < MISSED_BEATS:
            code, state = ("beat.some", FindingState.INFO) if missed else ("beat.all", _OK)
            yield Finding(_ID, code, state, params, name)
        elif window.answers:
            yield Finding(_ID, "beat.returned", FindingState.WARN, params, name, {}, lost)
        else:
            yield Finding(_ID, "beat.lost", FindingState.FAIL, params, name, {}, lost)


_OK = FindingState.OK


def heartbeats(window: BoardWindow) -> list[bool]:
    """For each BEAT_S of the window whether the driver answered for the board at all.

    A reading that hangs delays the next: a beat without a sample is a missed one.
    """
    if not window.samples:
        return [False] * max(1, int(window.seconds // BEAT_S))
    began = window.samples[0].time
    answered = {int((s.time - began) // BEAT_S) for s in window.samples if is_answer(s)}
    return [beat in answered for beat in range(max(1, int(window.seconds // BEAT_S)))]


ALIVE = Check(
    _ID,
    "Performance",
    "whether the driver answers for each board while it is watched",
    ("the driver library, again and again",),
    _alive,
    Cost.WATCH,
    depends_on=("driver.nodes", "device.lost"),
    explanation=(
        f"One answer in {BEAT_S:.0f} s is a heartbeat. A missed one is information: drivers are "
        f"slow at times. {MISSED_BEATS} missed in a row make the board suspect; it is then asked "
        "once more. If it does not answer, it is lost or its driver hangs: drain it and look into "
        "the kernel log. If it does, it was silent, and a job on it may have failed."
    ),
)
