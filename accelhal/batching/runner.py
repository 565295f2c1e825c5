"""A lane's thread: forms a batch when the lane is free, runs it, and answers its requests."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from accelhal.batching.caller_state import StateKeeper
from accelhal.batching.collation import Arguments, Collator
from accelhal.batching.dispatcher import Dispatcher
from accelhal.batching.failures import LaneLostError, Outcome, Recovery
from accelhal.batching.kept_results import kept_a_while
from accelhal.batching.lane import Lane, Launched, Work
from accelhal.batching.observers import Observers, warn_in_lane
from accelhal.batching.parking import Seat
from accelhal.batching.replies import fail_all, settle_all
from accelhal.batching.request import Batch
from accelhal.batching.settings import Settings
from accelhal.batching.sizes import BatchSizes
from accelhal.batching.statistics import BatchRecord
from accelhal.errors import BatchingError, described

_SERVED = Outcome(model_calls=1)
MOST_RESTARTS = 16
"""Errors of accelhal itself in a row after which a lane is given up."""


@dataclass(frozen=True, slots=True)
class Shop:
    """What all lanes of a batcher share."""

    dispatcher: Dispatcher
    collator: Collator
    sizes: BatchSizes
    settings: Settings
    observers: Observers


class OnLost(Protocol):
    """Told that a lane cannot go on, in its thread."""

    def __call__(self, runner: Runner, batches: Sequence[Batch], cause: BaseException) -> None:
        """Give its unanswered batches to another lane, or answer them."""


class Runner:
    """One lane at work.

    Attributes:
        lane: what runs the batches.
        state: "standby", "running", "lost" or "ended".
        in_flight: batches under way.
    """

    def __init__(
        self,
        lane: Lane,
        shop: Shop,
        on_lost: OnLost,
        on_end: Callable[[], None],
        thread_name: str,
    ) -> None:
        self.lane = lane
        self.state = "standby"
        self._shop = shop
        self._on_lost = on_lost
        self._on_end = on_end
        self._flights: deque[tuple[Batch, Launched]] = deque()
        self._in_hand: Batch | None = None
        self._kept: Sequence[Any] = ()
        self._seat = Seat()
        self._states = StateKeeper()
        self._thread = threading.Thread(target=self._serve, name=thread_name, daemon=True)
        self._recovery = Recovery(
            lane.name,
            self._run_part,
            lane.kind_of,
            shop.collator.describe,
            shop.dispatcher.ceilings,
            shop.settings,
        )

    @property
    def in_flight(self) -> int:
        """Batches under way."""
        return len(self._flights) + (self._in_hand is not None)

    def start(self) -> None:
        """Begin to serve."""
        self.state = "running"
        self._thread.start()

    def join(self, timeout: float | None) -> bool:
        """Wait until the thread has ended; False where `timeout` seconds came first."""
        if self.state == "standby" or self.ident == threading.get_ident():
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    @property
    def ident(self) -> int | None:
        """The thread's identifier, once it has started."""
        return self._thread.ident

    def busy_since(self) -> float | None:
        """When its oldest batch under way was formed; None where it has none."""
        batches = [batch for batch, _ in tuple(self._flights)]
        if self._in_hand is not None:
            batches.append(self._in_hand)
        return min((batch.formed for batch in batches), default=None)

    # ---- the thread

    def _serve(self) -> None:
        try:
            self.lane.start()
        except BaseException as error:
            self._lose(error, [])
            self._on_end()
            return
        try:
            self._serve_until_ended()
        finally:
            self._kept = ()
            self._states.leave()

    def _serve_until_ended(self) -> None:
        failures = 0
        while self.state == "running":
            try:
                if not self._turn():
                    self.state = "ended"
                failures = 0
            except LaneLostError as lost:
                self._lose(lost.cause, [lost.batch])
            except BaseException as error:  # the watchdog: an error of ours, not of the model
                failures += 1
                self._start_anew(error, failures)
        try:
            self.lane.close()
        except Exception as error:
            warn_in_lane(f"batching: lane {self.lane.name} did not close: {described(error)}")
        self._on_end()

    def _turn(self) -> bool:
        """Launch a batch or finish one; False when there will be none any more."""
        flights = self._flights
        batch = self._shop.dispatcher.take(self._seat, wait=not flights)
        if batch is None:
            if not flights:
                return False
            self._finish(*flights.popleft())
            return True
        self._launch(batch)
        while len(flights) >= self.lane.depth:
            self._finish(*flights.popleft())
        return True

    def _launch(self, batch: Batch) -> None:
        self._in_hand = batch
        try:
            launched = self._started(batch)
        except BaseException as error:
            self._recover(batch, error)
            return
        self._flights.append((batch, launched))
        self._in_hand = None

    def _started(self, batch: Batch) -> Launched:
        shop = self._shop
        state = batch.key[0]  # type: ignore[index]
        work = Work(batch, shop.sizes.padded(batch.rows), shop.collator, state)
        with self._states.within(state):
            return self.lane.launch(work)

    def _finish(self, batch: Batch, launched: Launched) -> None:
        self._in_hand = batch
        try:
            results = self._results(batch, launched)
        except BaseException as error:
            self._recover(batch, error)
            return
        self._recovery.served(batch)
        record = self._counted(batch, launched.arguments, _SERVED, False)
        self._kept = kept_a_while(results)
        # Last of all: from here on the callers want the interpreter.
        settle_all(batch.requests, results, batch.loop, batch.mixed)
        self._in_hand = None
        self._told(batch, record)

    def _results(self, batch: Batch, launched: Launched) -> Sequence[Any]:
        with self._states.within(batch.key[0]):  # type: ignore[index]
            return self._shop.collator.split(launched.finish(), batch, launched.arguments)

    def _run_part(self, part: Batch) -> None:
        """Run some of a failed batch's requests and answer them."""
        results = self._results(part, self._started(part))
        settle_all(part.requests, results, part.loop, part.mixed)
        self._recovery.served(part)

    def _recover(self, batch: Batch, error: BaseException) -> None:
        try:
            outcome = self._recovery.recover(batch, error)
        except LaneLostError as lost:
            self._shop.dispatcher.replace(batch, lost.batch)
            raise
        outcome.model_calls += 1
        self._in_hand = None
        self._told(batch, self._counted(batch, None, outcome, len(batch.requests) > 1))

    def _counted(
        self, batch: Batch, arguments: Arguments | None, outcome: Outcome, isolated: bool
    ) -> BatchRecord:
        dispatcher = self._shop.dispatcher
        service = dispatcher.clock() - batch.formed
        rows = tokens = padded_tokens = batch.rows
        if arguments is not None:
            _, _, rows, tokens, padded_tokens = arguments
            dispatcher.costs.add(batch.key, rows, service)
        record = BatchRecord(
            self.lane.name,
            len(batch.requests),
            batch.rows,
            rows,
            tokens,
            padded_tokens,
            batch.formed - batch.requests[0].arrival,
            service,
            batch.reason,
            outcome.failed,
            isolated,
        )
        dispatcher.count(record, outcome.model_calls, outcome.halved_for_memory)
        return record

    def _told(self, batch: Batch, record: BatchRecord) -> None:
        self._shop.dispatcher.finished(batch)
        self._shop.observers.tell(record)

    # ---- what goes wrong

    def _lose(self, cause: BaseException, batches: list[Batch]) -> None:
        self.state = "lost"
        batches += [batch for batch, _ in self._flights]
        self._flights.clear()
        self._in_hand = None
        self._on_lost(self, batches, cause)

    def _start_anew(self, error: BaseException, failures: int) -> None:
        """Answer what the loop was at when it failed, and let it go on."""
        batches = [batch for batch, _ in self._flights]
        if self._in_hand is not None:
            batches.append(self._in_hand)
        self._flights.clear()
        self._in_hand = None
        dispatcher = self._shop.dispatcher
        dispatcher.restarted()
        for batch in batches:
            fail_all(batch.requests, _internal(error))
            dispatcher.finished(batch)
        if failures >= MOST_RESTARTS:
            self._lose(error, [])


def _internal(error: BaseException) -> Callable[[], BatchingError]:
    def make() -> BatchingError:
        failure = BatchingError(
            f"the batcher failed: {described(error)}",
            operation="batch",
            hint="report this; other requests are served",
        )
        failure.__cause__ = error
        return failure

    return make
