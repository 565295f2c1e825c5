"""What becomes of a batch that failed: in halves until the one at fault stands alone."""

from __future__ import annotations

import asyncio
import copy
import os
import traceback
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from accelhal.batching.replies import settle
from accelhal.batching.request import Batch
from accelhal.batching.settings import Settings
from accelhal.errors import (
    AccelhalError,
    ErrorKind,
    ErrorScope,
    ModelExitError,
    UsageError,
    described,
)
from accelhal.runtimes.translation import typed_error

SHAPE_ERRORS = (RuntimeError, TypeError, ValueError, IndexError)
"""The classes, exactly, in which torch complains of shapes and types."""


class LaneLostError(Exception):
    """The lane cannot run anything any more.

    Attributes:
        cause: what the model or the device raised.
        batch: its requests that are not answered.
    """

    def __init__(self, cause: BaseException, batch: Batch) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.batch = batch


@dataclass(eq=False, slots=True)
class Outcome:
    """What a recovery came to.

    Attributes:
        failed: requests answered with an error.
        model_calls: calls of the model that it took.
        halved_for_memory: whether memory was exhausted.
    """

    failed: int = 0
    model_calls: int = 0
    halved_for_memory: bool = False


class Recovery:
    """Runs a failed batch again in parts, so that one bad request costs only itself.

    An error of one request is found in 2·log2(n) calls of the model; exhausted memory halves the
    batch, and the greatest size that may fit is remembered for its bucket.

    Args:
        lane: its name, for messages.
        run: runs a part and answers its requests; raises what the model raises.
        kind_of: what an error means.
        describe: the shape of a request's value in words, or nothing.
        ceilings: bucket -> rows that may fit; written to.
        settings: whether batches may run again.
    """

    def __init__(
        self,
        lane: str,
        run: Callable[[Batch], None],
        kind_of: Callable[[BaseException], ErrorKind],
        describe: Callable[[Any], str],
        ceilings: dict[Hashable, int],
        settings: Settings,
    ) -> None:
        self._lane = lane
        self._run = run
        self._kind_of = kind_of
        self._describe = describe
        self._ceilings = ceilings
        self._isolating = settings.on_error == "isolate" and settings.idempotent
        self._idempotent = settings.idempotent
        self._served: dict[Hashable, str] = {}

    def served(self, batch: Batch) -> None:
        """Remember that the model takes requests of this bucket."""
        if batch.key not in self._served and len(self._served) < 256:
            self._served[batch.key] = self._describe(batch.requests[0].value)

    def recover(self, batch: Batch, error: BaseException) -> Outcome:
        """Answer every request of a batch that failed with `error`.

        Raises:
            LaneLostError: the device is lost; some requests are not answered.
        """
        outcome = Outcome()
        parts = [batch]
        failure: BaseException | None = error
        try:
            while parts:
                part = parts.pop()
                if failure is None:
                    outcome.model_calls += 1
                    failure = self._failure_of(part)
                if failure is not None:
                    parts += self._split(part, failure, parts, outcome)
                failure = None
        finally:
            del error, failure  # they hold this frame, which holds them
        return outcome

    def _failure_of(self, part: Batch) -> BaseException | None:
        try:
            self._run(part)
        except BaseException as failure:
            return failure
        return None

    def _split(
        self, part: Batch, failure: BaseException, others: list[Batch], outcome: Outcome
    ) -> Sequence[Batch]:
        """The halves of a part that failed, the first one last; or none, and it is answered."""
        try:
            kind = self._kind_of(failure)
            if kind.scope is not ErrorScope.REQUEST:
                left = [r for other in (part, *reversed(others)) for r in other.requests]
                raise LaneLostError(failure, part.part(left)) from failure
            memory = kind is ErrorKind.OUT_OF_MEMORY and self._idempotent
            if memory:
                outcome.halved_for_memory = True
                ceiling = max(1, part.rows // 2)
                self._ceilings[part.key] = min(ceiling, self._ceilings.get(part.key, ceiling))
                let_go_of_frames(failure)
            if len(part.requests) > 1 and (memory or self._isolating):
                return part.halves()[::-1]
            outcome.failed += len(part.requests)
            self._fail(part, failure, kind)
            return ()
        finally:
            del failure

    def _fail(self, part: Batch, error: BaseException, kind: ErrorKind) -> None:
        told = without_our_frames(self._told(part, without_our_frames(error), kind))
        for request, one in zip(part.requests, own_copies(told, len(part.requests)), strict=True):
            settle(request.reply, request.loop, None, one)

    def _told(self, part: Batch, error: BaseException, kind: ErrorKind) -> BaseException:
        """The error as its callers see it."""
        if not isinstance(error, Exception) or isinstance(
            error, (StopIteration, StopAsyncIteration, asyncio.CancelledError)
        ):
            return _caused(
                ModelExitError(
                    f"the model raised {described(error)}",
                    device=self._lane,
                    operation="batch",
                    hint="raise an Exception for what a request is at fault for",
                ),
                error,
            )
        if kind is ErrorKind.OUT_OF_MEMORY and not isinstance(error, AccelhalError):
            typed = typed_error(kind, error, backend="", device=self._lane, operation="batch")
            return error if typed is None else _caused(typed, error)
        if len(part.requests) == 1 and self._is_of_a_foreign_shape(part, error):
            shape = self._describe(part.requests[0].value)
            known = next(iter(self._served.values()))
            return _caused(
                UsageError(
                    f"the model refused a request of {shape}: {described(error)}",
                    device=self._lane,
                    operation="batch",
                    hint=f"it has served {known}",
                ),
                error,
            )
        return error

    def _is_of_a_foreign_shape(self, part: Batch, error: BaseException) -> bool:
        return (
            type(error) in SHAPE_ERRORS
            and bool(self._served)
            and part.key not in self._served
            and self._describe(part.requests[0].value) not in ("", *self._served.values())
        )


def own_copies(error: BaseException, count: int) -> Iterable[BaseException]:
    """The error for one caller, and copies for the others: each adds its own traceback."""
    yield error
    for _ in range(count - 1):
        try:
            twin = copy.copy(error)
        except Exception:
            yield error  # it cannot be copied
            continue
        yield _caused(twin, error) if type(twin) is type(error) else error


def let_go_of_frames(error: BaseException | None) -> None:
    """Free what an error's frames hold: tensors for which there was no memory."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__


def _caused(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


def without_our_frames(error: BaseException) -> BaseException:
    """The error with the model's frames alone: ours would keep the whole batch in memory."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        trace = trace.tb_next
    return error.with_traceback(trace)


_PACKAGE = os.path.dirname(__file__) + os.sep
