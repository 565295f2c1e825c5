"""The lanes of a batcher: which run, which stand by, and who goes on when one is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from accelhal.batching.dispatcher import Dispatcher
from accelhal.batching.lane import Lane
from accelhal.batching.observers import warn_in_lane
from accelhal.batching.replies import fail_all
from accelhal.batching.request import Batch
from accelhal.batching.runner import Runner, Shop
from accelhal.batching.statistics import LaneStatistics
from accelhal.errors import BatcherClosedError, DeviceLostError, described

MOST_TRIES = 2
"""Lanes that a batch may take down before it is not run again: it may be what kills them."""


class Crew:
    """Starts lanes, replaces those that are lost, and ends the batcher when none is left.

    Args:
        lanes: that run from the start.
        standby: that take the place of lost ones, in order.
        shop: what they share.
        name: of the batcher, for their threads.
    """

    def __init__(
        self, lanes: Sequence[Lane], standby: Sequence[Lane], shop: Shop, name: str
    ) -> None:
        self._dispatcher: Dispatcher = shop.dispatcher
        self._idempotent = shop.settings.idempotent
        self._runners = [
            Runner(lane, shop, self._lost, self._one_ended, f"{name} {lane.name}")
            for lane in (*lanes, *standby)
        ]
        self._first = len(lanes)

    def start(self) -> None:
        """Let the lanes begin that do not stand by."""
        for runner in self._runners[: self._first]:
            runner.start()

    def close(self, drain: bool, timeout: float) -> bool:
        """End: see DynamicBatcher.close. Called in a lane's thread it does not wait."""
        self._dispatcher.end(_closed)
        if not drain:
            self._dispatcher.clear(in_flight=False)
        if self.is_current():
            return False
        if self._join(timeout):
            return True
        self._dispatcher.clear(in_flight=True)
        return False

    def abandon(self) -> None:
        """Nobody holds the batcher any more: finish what is queued, and end."""
        self._dispatcher.end(_closed)

    def forked(self) -> None:
        """In a forked child: refuse all."""
        self._dispatcher.forked(_of_the_parent)

    def _join(self, timeout: float) -> bool:
        until = time.monotonic() + timeout
        return all(runner.join(max(0.0, until - time.monotonic())) for runner in self._runners)

    def _one_ended(self) -> None:
        if not self.running():
            self._dispatcher.stop_timer()

    def is_current(self) -> bool:
        """Whether the calling thread is one of the lanes'."""
        return threading.get_ident() in [runner.ident for runner in self._runners]

    def running(self) -> bool:
        """Whether any lane runs."""
        return any(runner.state == "running" for runner in self._runners)

    def statistics(self) -> tuple[LaneStatistics, ...]:
        """The lanes as they are."""
        now = self._dispatcher.clock()
        found = []
        for runner in self._runners:
            since = runner.busy_since()
            busy_for = 0.0 if since is None else now - since
            found.append(LaneStatistics(runner.lane.name, runner.state, runner.in_flight, busy_for))
        return tuple(found)

    def _lost(self, runner: Runner, batches: Sequence[Batch], cause: BaseException) -> None:
        name = runner.lane.name

        def refusal() -> DeviceLostError:
            error = DeviceLostError(
                f"lane {name} was lost: {described(cause)}",
                device=name,
                operation="batch",
                hint="`accelhal doctor` says whether the device can be used again",
            )
            error.__cause__ = cause
            return error

        with self._dispatcher.lock:
            if not self._dispatcher.ending:
                spare = next((r for r in self._runners if r.state == "standby"), None)
                if spare is not None:
                    spare.start()
            alive = self.running()
            again: list[Batch] = []
            given_up: list[Batch] = []
            for batch in batches:
                batch.tries += 1
                may = alive and self._idempotent and batch.tries < MOST_TRIES
                (again if may else given_up).append(batch)
            for batch in again:
                self._dispatcher.retry(batch)
        for batch in given_up:
            fail_all(batch.requests, refusal)
            self._dispatcher.finished(batch)
        if not alive:
            self._dispatcher.end(refusal)
            self._dispatcher.clear(in_flight=False)
        warn_in_lane(
            f"batching: lane {name} was lost ({described(cause)}); "
            + ("others go on" if alive else "none is left, and the batcher is closed")
        )


def _closed() -> BatcherClosedError:
    return BatcherClosedError("the batcher is closed", operation="submit", hint="make a new one")


def _of_the_parent() -> BatcherClosedError:
    return BatcherClosedError(
        "the batcher belongs to the parent process: its threads are not in this one",
        operation="submit",
        hint="make batchers after the fork",
    )
