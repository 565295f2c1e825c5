"""The ways in which answers reach their callers: futures, waiting threads, parts of a whole."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from accelhal.batching.request import Reply, Request


class FutureReply(concurrent.futures.Future[Any]):
    """What `submit` returns: a concurrent.futures.Future that nobody else answers."""

    _claimed = False

    def claim(self) -> bool:
        """See Reply."""
        if self._claimed:
            return False
        self._claimed = True
        return self.set_running_or_notify_cancel()

    def settle(self, result: Any, error: BaseException | None) -> None:
        """See Reply."""
        with suppress(concurrent.futures.InvalidStateError):  # expired or closed meanwhile
            if error is None:
                self.set_result(result)
            else:
                self.set_exception(error)


class CallReply:
    """A thread that waits: a lock, which costs a fifth of a Future with its condition."""

    __slots__ = ("_answer", "_error", "_lock", "_over")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self._answer: Any = None
        self._error: BaseException | None = None
        self._over = False

    def claim(self) -> bool:
        """See Reply."""
        return not self._over

    def done(self) -> bool:
        """See Reply."""
        return self._over

    def settle(self, result: Any, error: BaseException | None) -> None:
        """See Reply."""
        if self._over:
            return
        self._over = True
        self._answer, self._error = result, error
        try:
            self._lock.release()
        except RuntimeError:  # answered by two threads at once: by its lane and by a close
            return

    def wait(self, until: float | None, clock: Callable[[], float]) -> bool:
        """Wait for the answer; False where `until` (seconds of the clock) came first."""
        limit = -1.0 if until is None else max(0.0, until - clock())
        try:
            answered = self._lock.acquire(timeout=limit)
        except BaseException:  # an interrupt: nobody waits any more
            self._over = True
            raise
        if not answered:
            self._over = True
        return answered

    def answer(self) -> Any:
        """The answer that came, or its error raised."""
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # else the error and this frame hold one another
        return self._answer


class Gathering:
    """Several requests whose answers make one: a map, or a request that was split.

    Args:
        count: how many.
        reply: where the one answer goes.
        loop: the event loop of `reply`, where that is an asyncio.Future.
        join: the one answer, of the answers in order.
        keep_errors: errors stand among the answers; otherwise the first one is the answer.
    """

    def __init__(
        self,
        count: int,
        reply: Reply | asyncio.Future[Any],
        loop: asyncio.AbstractEventLoop | None,
        join: Callable[[list[Any]], Any],
        keep_errors: bool = False,
    ) -> None:
        self._lock = threading.Lock()
        self._answers: list[Any] = [None] * count
        self._left = count
        self._reply = reply
        self._loop = loop
        self._join = join
        self._keep_errors = keep_errors
        self._over = False

    def over(self) -> bool:
        """Whether nobody waits for further parts."""
        return self._over or self._reply.done()

    def give_up(self) -> None:
        """Wait for no further parts."""
        self._over = True

    def settle_part(self, index: int, result: Any, error: BaseException | None) -> None:
        """Take the answer of one request."""
        with self._lock:
            if self._over:
                return
            if error is None or self._keep_errors:
                self._answers[index] = result if error is None else error
                error = None
            self._left -= 1
            self._over = error is not None or not self._left
            if not self._over:
                return
        joined = None
        if error is None:
            try:
                joined = self._join(self._answers)
            except Exception as failure:
                error = failure
        self._answers = []
        settle(self._reply, self._loop, joined, error)


class PartReply:
    """One of the requests of a Gathering."""

    __slots__ = ("_claimed", "_gathering", "_index")

    def __init__(self, gathering: Gathering, index: int) -> None:
        self._gathering = gathering
        self._index = index
        self._claimed = False

    def claim(self) -> bool:
        """See Reply."""
        if self._claimed or self._gathering.over():
            return False
        self._claimed = True
        return True

    def done(self) -> bool:
        """See Reply."""
        return self._gathering.over()

    def settle(self, result: Any, error: BaseException | None) -> None:
        """See Reply."""
        self._gathering.settle_part(self._index, result, error)


def settle(
    reply: Reply | asyncio.Future[Any],
    loop: asyncio.AbstractEventLoop | None,
    result: Any,
    error: BaseException | None,
) -> None:
    """Answer one request, from any thread."""
    if loop is None:
        reply.settle(result, error)  # type: ignore[union-attr]
    else:
        _on_loop(loop, _settle_future, reply, result, error)


def settle_all(
    requests: Sequence[Request],
    results: Sequence[Any],
    loop: asyncio.AbstractEventLoop | None,
    mixed: bool,
) -> None:
    """Answer each request with its result: one wake-up for each event loop.

    Args:
        requests: in the order of `results`.
        results: as many.
        loop: of all requests; None where they wait in threads.
        mixed: whether they differ in it.
    """
    if mixed:
        by_loop: dict[Any, tuple[list[Request], list[Any]]] = {}
        for request, result in zip(requests, results, strict=True):
            group = by_loop.setdefault(request.loop, ([], []))
            group[0].append(request)
            group[1].append(result)
        for one, (some, theirs) in by_loop.items():
            settle_all(some, theirs, one, False)
    elif loop is not None:
        _on_loop(loop, _set_results, requests, results)
    else:
        for request, result in zip(requests, results, strict=True):
            request.reply.settle(result, None)  # type: ignore[union-attr]


def fail_all(requests: Iterable[Request], error: Callable[[], BaseException]) -> None:
    """Answer each request with an error of its own."""
    for request in requests:
        settle(request.reply, request.loop, None, error())


def _on_loop(loop: asyncio.AbstractEventLoop, function: Callable[..., None], *args: Any) -> None:
    try:
        loop.call_soon_threadsafe(function, *args)
    except RuntimeError:  # the loop is closed, and all who waited on it are gone
        return


def _set_results(requests: Sequence[Request], results: Sequence[Any]) -> None:
    for request, result in zip(requests, results, strict=True):
        future: Any = request.reply
        if not future.done():
            future.set_result(result)


def _settle_future(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
