"""DynamicBatcher: many callers' requests, run a batch at a time, each answered with its own."""

from __future__ import annotations

import asyncio
import itertools
import weakref
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, NoReturn

from accelhal.batching.assembly import Model, common_sizes, make_collator, make_lanes
from accelhal.batching.caller_state import reader
from accelhal.batching.collation import Collator
from accelhal.batching.costs import CostTable
from accelhal.batching.crew import Crew
from accelhal.batching.dispatcher import Dispatcher
from accelhal.batching.endings import watch
from accelhal.batching.intake import Intake
from accelhal.batching.lane import Lane
from accelhal.batching.observers import Observer, Observers, VainWaits
from accelhal.batching.replies import CallReply, FutureReply, Gathering, PartReply
from accelhal.batching.request import Request
from accelhal.batching.runner import Shop
from accelhal.batching.settings import (
    Settings,
    not_negative,
    positive_integer,
)
from accelhal.batching.sizes import BatchSizes
from accelhal.batching.statistics import BatcherStatistics
from accelhal.errors import UsageError

CLOSE_LIMIT_S = 30.0
"""How long `close` and `drain` wait unless told otherwise."""

_running_loop = asyncio._get_running_loop  # of the public interface for event loops
_numbers = itertools.count(1)


class DynamicBatcher:
    """Runs a model on batches of whatever its callers ask for at the time.

        with accelhal.DynamicBatcher(model, max_batch_size=32) as batcher:
            future = batcher.submit(x)          # from any thread
            y = batcher(x)                      # the same, and wait
            y = await batcher.asubmit(x)        # from any event loop

    A batch is formed when a device is free, of what waits by then: a lone request is run at once,
    and batches grow with the load. Each device has a thread of its own. The model runs in the grad
    mode, inference mode and autocast of the request's caller; callers that differ in it, and
    values that cannot be collated, are not batched together.

    Args:
        model: called with one batch (a tensor, or a nest of tensors as the callers', with a first
            dimension of rows), and returns one: a tensor or a nest of tensors with as many rows.
            With collate="list" it takes and returns a list. Several, where there are several
            devices: one for each.
        max_batch_size: the most rows of a batch.
        max_queue_delay: seconds that a free device lets the oldest request wait for others; 0
            waits for none, which is best unless requests come in bursts.
        max_batch_tokens: the most rows times length of a padded batch.
        allowed_batch_sizes: sizes that cost no padding (captured, compiled); those that the model
            names in `batch_sizes` when None. Batches have at most the largest.
        batch_padding_policy: "pad_up" repeats the last row up to the next allowed size;
            "batch_down" leaves what is above the next smaller for the next batch; "cheapest" does
            what has taken less time for each row.
        collate: "stack" samples of one shape; "pad" sequences to the longest; "ragged" sequences
            end to end, the model called with `offsets=`; "list" passes the values on as they are.
        pad_value: for collate="pad": one for all fields, or a dict of one for each padded field.
        length_buckets: which sequences share a batch: "geometric:RATIO", lengths, or None.
        lengths: name of the argument that tells the model the lengths of the sequences.
        mask: name of the argument that tells the model entries (True) from padding.
        sequence_output: the model returns an entry for each of a sequence, and callers get those
            of their own.
        max_queue_size: the most rows that wait.
        overflow: a full queue's answer: "reject" raises QueueFullError, "block" waits for room,
            "shed_low_priority" fails what is less urgent in favour of what is more.
        priority_levels: priorities are 0, the most urgent, to one less than this.
        priority_aging: seconds of waiting that a level of priority is worth.
        default_timeout: seconds in which a request must be answered that names no limit itself.
        devices: where to run, a lane each; where the model's parameters lie when None.
        standby: devices that take the place of lost ones.
        lanes: what runs the batches, in place of a model and devices; see Lane.
        max_inflight_batches: batches under way at once on a device that overlaps copies.
        on_error: "isolate" runs a failed batch again in parts, so that a request at fault fails
            alone; "fail" fails all of it.
        idempotent: whether a batch may run again after an error or on another device.
        observers: told of each batch.
        name: for threads and messages.

    Raises:
        UsageError: an argument is wrong; the message names it.
    """

    def __init__(
        self,
        model: Model | Sequence[Model] | None = None,
        *,
        max_batch_size: int = 32,
        max_queue_delay: float = 0.0,
        max_batch_tokens: int | None = None,
        allowed_batch_sizes: Collection[int] | None = None,
        batch_padding_policy: str = "pad_up",
        collate: str | Collator = "stack",
        pad_value: float | Mapping[Any, float] | None = None,
        length_buckets: str | Sequence[int] | None = "geometric:1.4",
        lengths: str | None = None,
        mask: str | None = None,
        sequence_output: bool = False,
        max_queue_size: int = 1024,
        overflow: str = "reject",
        priority_levels: int = 2,
        priority_aging: float = 1.0,
        default_timeout: float | None = None,
        devices: Sequence[Any] | None = None,
        standby: Sequence[Any] = (),
        lanes: Sequence[Lane] | None = None,
        max_inflight_batches: int = 2,
        on_error: str = "isolate",
        idempotent: bool = True,
        observers: Iterable[Observer] = (),
        name: str | None = None,
    ) -> None:
        depth = positive_integer("max_inflight_batches", max_inflight_batches)
        running, spare = make_lanes(model, devices, standby, lanes, depth)
        if allowed_batch_sizes is None:
            allowed = common_sizes([*running, *spare])
        else:
            allowed = tuple(sorted({positive_integer("a size", n) for n in allowed_batch_sizes}))
        most = positive_integer("max_batch_size", max_batch_size)
        settings = Settings(
            max_batch_size=min(most, allowed[-1]) if allowed else most,
            max_queue_delay=max_queue_delay,
            max_batch_tokens=max_batch_tokens,
            allowed_batch_sizes=allowed,
            batch_padding_policy=batch_padding_policy,
            max_queue_size=max_queue_size,
            overflow=overflow,
            priority_levels=priority_levels,
            priority_aging=priority_aging,
            default_timeout=default_timeout,
            max_inflight_batches=depth,
            on_error=on_error,
            idempotent=idempotent,
        )
        self.name = name or f"batcher-{next(_numbers)}"
        self._settings = settings
        self._collator = make_collator(
            collate, pad_value, length_buckets, lengths, mask, sequence_output, bool(allowed)
        )
        costs = CostTable()
        sizes = BatchSizes(allowed, batch_padding_policy, costs)
        self._dispatcher = Dispatcher(
            settings, sizes, costs, name=self.name, key_of=self._collator.key_of
        )
        told = list(observers)
        if max_queue_delay:
            told.append(VainWaits(settings.max_batch_size, max_queue_delay))
        shop = Shop(self._dispatcher, self._collator, sizes, settings, Observers(told))
        self._crew = Crew(running, spare, shop, self.name)
        self._quick = default_timeout is None and overflow != "block"
        self._put = self._dispatcher.put_plain
        self._clock = self._dispatcher.clock
        self._quick_place = self._collator.quick_place
        self._state = reader(tuple({getattr(lane, "device_type", "cpu") for lane in running}))
        self._intake = Intake(settings, self._collator, self._dispatcher, self._state)
        watch(self._crew)
        self._crew.start()
        self._end = weakref.finalize(self, self._crew.abandon)
        self._end.atexit = False  # accelhal.batching.endings closes it then

    # ---- asking

    def submit(
        self,
        value: Any,
        *,
        priority: int = 0,
        timeout: float | None = None,
        rows: int | None = None,
    ) -> FutureReply:
        """Ask for the model's result; a concurrent.futures.Future of it. From any thread.

        Args:
            value: one row: a tensor without the dimension of rows, or a nest of them.
            priority: 0 is the most urgent.
            timeout: seconds in which it must be answered, waiting for room included.
            rows: the value has a first dimension of that many rows, and so has its result; they
                may be run in several batches. With collate="list", what it counts for.

        Raises:
            UsageError: no batch could hold the value; or an argument is wrong.
            QueueFullError: the queue is full, and does not block.
            BatcherClosedError: the batcher is closed.
            DeviceLostError: no lane is left.
        """
        reply = FutureReply()
        if self._quick and not priority and timeout is None and rows is None:
            placed = self._quick_place(value)
            if placed is not None:
                key, terms = placed
                self._put(Request(value, reply, None, self._clock(), terms, self._state(), key))
                return reply
        intake = self._intake
        intake.ask(value, reply, None, priority, intake.until(timeout), rows)
        return reply

    def asubmit(
        self,
        value: Any,
        *,
        priority: int = 0,
        timeout: float | None = None,
        rows: int | None = None,
    ) -> asyncio.Future[Any]:
        """Ask for the model's result, in an event loop: `await batcher.asubmit(x)`.

        Never blocks the loop; with overflow="block" the future waits for room too. Arguments and
        errors as for `submit`.
        """
        loop = _running_loop()
        if loop is None:
            raise UsageError(
                "asubmit was called where no event loop runs",
                operation="asubmit",
                hint="submit() gives a future of threads",
            )
        future = loop.create_future()
        if self._quick and not priority and timeout is None and rows is None:
            placed = self._quick_place(value)
            if placed is not None:
                key, terms = placed
                self._put(Request(value, future, loop, self._clock(), terms, self._state(), key))
                return future
        intake = self._intake
        intake.ask(value, future, loop, priority, intake.until(timeout), rows)
        return future

    def __call__(
        self,
        value: Any,
        *,
        priority: int = 0,
        timeout: float | None = None,
        rows: int | None = None,
    ) -> Any:
        """Ask for the model's result and wait for it. Arguments and errors as for `submit`.

        Raises:
            DeadlineExceededError: `timeout` seconds have passed.
            Exception: what the model raised.
        """
        self._check_may_wait()
        reply = CallReply()
        if self._quick and not priority and timeout is None and rows is None:
            placed = self._quick_place(value)
            if placed is not None:
                key, terms = placed
                self._put(Request(value, reply, None, self._clock(), terms, self._state(), key))
                reply.wait(None, self._clock)
                return reply.answer()
        until = self._intake.until(timeout)
        self._intake.ask(value, reply, None, priority, until, rows)
        return self._intake.waited(reply, until)

    def map(
        self,
        values: Iterable[Any],
        *,
        priority: int = 0,
        timeout: float | None = None,
        return_exceptions: bool = False,
    ) -> list[Any]:
        """The model's results for many values, in order; waits for room where the queue is full.

        Args:
            values: as for `submit`.
            priority: of all.
            timeout: seconds for all together.
            return_exceptions: put errors in the place of results; else the first is raised.
        """
        self._check_may_wait()
        items = list(values)
        until = self._intake.until(timeout)
        if not items:
            return []
        reply = CallReply()
        gathering = Gathering(len(items), reply, None, list, return_exceptions)
        for index, value in enumerate(items):
            part = PartReply(gathering, index)
            try:
                self._intake.ask(value, part, None, priority, until, None, block=True)
            except UsageError as error:
                part.settle(None, error)
            except BaseException:
                gathering.give_up()
                raise
            if reply.done():
                break
        return list(self._intake.waited(reply, until))

    # ---- the end

    def drain(self, timeout: float = CLOSE_LIMIT_S) -> bool:
        """Wait until nothing is queued or under way; the batcher stays open.

        Returns:
            False where `timeout` seconds came first.
        """
        self._check_may_wait()
        return self._dispatcher.wait_until_quiet(not_negative("timeout", timeout))

    def close(self, drain: bool = True, timeout: float = CLOSE_LIMIT_S) -> bool:
        """Take no more requests, answer all that are pending, and end the threads.

        Safe to call again, from any thread, an event loop's too. In the lane's own thread (a
        callback of a future) it does not wait.

        Args:
            drain: run what is queued; else fail it with BatcherClosedError.
            timeout: seconds after which what is still pending, even if under way, is failed.

        Returns:
            Whether the threads have ended; a model that hangs keeps its own.
        """
        limit = not_negative("timeout", timeout)
        self._end.detach()
        return self._crew.close(drain, limit)

    async def aclose(self, drain: bool = True, timeout: float = CLOSE_LIMIT_S) -> bool:
        """`close` without blocking the event loop."""
        return await asyncio.to_thread(self.close, drain, timeout)

    def __enter__(self) -> DynamicBatcher:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(drain=kind is None)

    async def __aenter__(self) -> DynamicBatcher:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose(drain=kind is None)

    # ---- what it has done

    @property
    def healthy(self) -> bool:
        """Whether a request submitted now would be run."""
        return self._dispatcher.refusal is None and self._crew.running()

    def stats(self) -> BatcherStatistics:
        """Figures since the batcher was made, and what it holds now."""
        dispatcher = self._dispatcher
        with dispatcher.lock:
            dispatcher.sort()
            return BatcherStatistics(
                queued=sum(r.terms.rows for r in dispatcher.backlog if not r.reply.done()),
                waiting_for_space=len(dispatcher.admission.waiting),
                in_flight=len(dispatcher.in_flight),
                ceilings=dict(dispatcher.ceilings),
                lanes=self._crew.statistics(),
                healthy=self.healthy,
                **dispatcher.counters.copied(),
            )

    def __repr__(self) -> str:
        return f"<accelhal.DynamicBatcher {self.name}>"

    def __getstate__(self) -> NoReturn:
        """Refuse to be copied or pickled."""
        raise UsageError(
            "a DynamicBatcher cannot be copied or pickled: its threads belong to this process",
            operation="DynamicBatcher",
            hint="make one in each process",
        )

    # ---- inside

    def _check_may_wait(self) -> None:
        if self._crew.is_current():
            raise UsageError(
                "called in the batcher's own thread, it would wait for itself",
                operation="submit",
                hint="submit() there, and do not wait for the result",
            )
