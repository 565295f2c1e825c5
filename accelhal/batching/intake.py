"""Requests that ask for more than the answer: checked, cut where too large, and queued."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from accelhal.batching.admission import Gate
from accelhal.batching.caller_state import CallerState
from accelhal.batching.collation import Collator
from accelhal.batching.dispatcher import Dispatcher
from accelhal.batching.replies import CallReply, Gathering, PartReply
from accelhal.batching.request import Reply, Request, Terms
from accelhal.batching.settings import Settings, positive_integer, positive_seconds
from accelhal.errors import DeadlineExceededError, UsageError


class Intake:
    """The way into the queue for whatever has a priority, a deadline, rows, or must wait for room.

    Args:
        settings: limits and defaults.
        collator: says what a value is.
        dispatcher: holds the queue.
        state: reads the caller's modes.
    """

    def __init__(
        self,
        settings: Settings,
        collator: Collator,
        dispatcher: Dispatcher,
        state: Callable[[], CallerState],
    ) -> None:
        self._settings = settings
        self._collator = collator
        self._dispatcher = dispatcher
        self._state = state
        self._clock = dispatcher.clock

    def until(self, timeout: float | None) -> float | None:
        """When a request must be answered, in seconds of time.monotonic(); None for whenever.

        Raises:
            UsageError: not a number of seconds above 0.
        """
        if timeout is None:
            timeout = self._settings.default_timeout
        return None if timeout is None else self._clock() + positive_seconds("timeout", timeout)

    def ask(
        self,
        value: Any,
        reply: Reply | asyncio.Future[Any],
        loop: asyncio.AbstractEventLoop | None,
        priority: int,
        until: float | None,
        rows: int | None,
        block: bool | None = None,
    ) -> None:
        """Queue a request.

        Args:
            value: what the model is asked about.
            reply: where the answer goes.
            loop: of `reply`, where that is an asyncio.Future.
            priority: 0 is the most urgent.
            until: when it must be answered.
            rows: of the value, where it has a dimension of them.
            block: wait for room; as the batcher's `overflow` says when None.

        Raises:
            UsageError, QueueFullError, BatcherClosedError, DeviceLostError: see
                DynamicBatcher.submit.
        """
        settings = self._settings
        if block is None:
            block = settings.overflow == "block"
        if type(priority) is not int or not 0 <= priority < settings.priority_levels:
            raise UsageError(
                f"priority must be 0 (most urgent) to {settings.priority_levels - 1}, "
                f"not {priority!r}",
                operation="submit",
                hint="priority_levels sets how many there are",
            )
        if rows is not None:
            rows = positive_integer("rows", rows)
        placed = self._collator.place(value, rows)
        pieces = [(placed.value, placed.rows)]
        if placed.rows > settings.max_batch_size:
            pieces = self._collator.cut(placed.value, placed.rows, settings.max_batch_size)
        largest = max(count for _, count in pieces) if block else placed.rows
        if largest > settings.max_queue_size:
            raise UsageError(
                f"a request of {placed.rows} rows cannot enter a queue of "
                f"{settings.max_queue_size}",
                operation="submit",
                hint="raise max_queue_size, or submit fewer rows",
            )
        state, now = self._state(), self._clock()
        replies: list[Any] = [reply]
        one_loop = loop
        if len(pieces) > 1:
            gathering = Gathering(len(pieces), reply, loop, self._collator.rejoin)
            replies = [PartReply(gathering, index) for index in range(len(pieces))]
            one_loop = None
        requests = [
            Request(
                part,
                one,
                one_loop,
                now,
                Terms(count, placed.leading, placed.length, priority, until),
                state,
                placed.key,
            )
            for (part, count), one in zip(pieces, replies, strict=True)
        ]
        timed = not isinstance(reply, CallReply)
        if not block:
            self._dispatcher.put_all(requests, timed)
            return
        for request in requests:
            self._put_when_there_is_room(request, timed, loop is None)

    def waited(self, reply: CallReply, until: float | None) -> Any:
        """The answer of a request whose caller waits for it.

        Raises:
            DeadlineExceededError: `until` came first.
        """
        if not reply.wait(until, self._clock):
            self._dispatcher.count_expired()
            raise DeadlineExceededError("no answer came within the time limit", operation="submit")
        return reply.answer()

    def _put_when_there_is_room(self, request: Request, timed: bool, wait: bool) -> None:
        gate = Gate() if wait else None
        dispatcher = self._dispatcher
        if dispatcher.put_when_there_is_room(request, timed, gate) or gate is None:
            return
        until = request.terms.deadline
        try:
            opened = gate.wait(None if until is None else until - self._clock())
        except BaseException:  # an interrupt
            dispatcher.give_up_waiting(request)
            raise
        if not opened and timed:
            dispatcher.expire_waiting(request)
        elif not opened:
            dispatcher.give_up_waiting(request)  # `waited` tells its caller
        elif not gate.admitted and dispatcher.refusal is not None:
            raise dispatcher.refusal()
