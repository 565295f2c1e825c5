"""A request as it waits, and the batch that it goes into."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple, Protocol


class Reply(Protocol):
    """Where the answer of a request goes whose caller is a thread."""

    def claim(self) -> bool:
        """Take it on for an answer; False where nobody waits or it was claimed before.

        Called under the dispatcher's lock alone, once in a request's life.
        """

    def done(self) -> bool:
        """Whether an answer would come to nobody."""

    def settle(self, result: Any, error: BaseException | None) -> None:
        """Answer it; one that is done is left as it is. Never raises."""


class Terms(NamedTuple):
    """What a caller may ask beside the answer.

    Attributes:
        rows: rows of the batch that the request takes.
        leading: whether its tensors have a dimension of rows already.
        length: entries along the padded dimension; 1 where nothing is padded.
        priority: 0 is the most urgent.
        deadline: seconds of time.monotonic(); None waits for ever.
    """

    rows: int = 1
    leading: bool = False
    length: int = 1
    priority: int = 0
    deadline: float | None = None

    @property
    def plain(self) -> bool:
        """Whether it is one row that asks for no more than the answer, whatever its length."""
        return self.rows == 1 and not (self.leading or self.priority or self.deadline is not None)


PLAIN = Terms()
"""The terms of nearly all requests: one object, so that a request is small."""


class Request:
    """One caller's value and where its answer goes.

    Attributes:
        value: what the caller passed.
        reply: an asyncio.Future where `loop` is set, else a Reply of threads.
        loop: the event loop of an asyncio caller; its future is touched there alone.
        arrival: seconds of time.monotonic().
        terms: what the caller asked for.
        state: the caller's modes; one object for equal ones.
        key: equal for values that can be collated; None until the backlog asks for it.
    """

    __slots__ = ("arrival", "key", "loop", "reply", "state", "terms", "value")

    def __init__(
        self,
        value: Any,
        reply: Reply | asyncio.Future[Any],
        loop: asyncio.AbstractEventLoop | None,
        arrival: float,
        terms: Terms,
        state: Hashable,
        key: Hashable | None,
    ) -> None:
        self.value = value
        self.reply = reply
        self.loop = loop
        self.arrival = arrival
        self.terms = terms
        self.state = state
        self.key = key


class ReleaseReason(str, Enum):
    """Why a batch was formed when it was."""

    FULL = "full"  # of rows
    TOKENS = "tokens"  # its padded tokens are as many as may be
    SIZE = "size"  # rounded down to an allowed batch size
    IDLE = "idle"  # the lane was free and nothing more waited
    DELAY = "delay"  # max_queue_delay had passed
    DEADLINE = "deadline"  # a request could not linger longer
    CLOSING = "closing"
    RETRY = "retry"  # its first lane was lost


@dataclass(eq=False, slots=True)
class Batch:
    """Requests that run together.

    Attributes:
        key: of the bucket they came from: the callers' state, and what is equal for values that
            can be collated.
        requests: in the order in which they are answered.
        rows: their rows in all.
        reason: why it was formed.
        formed: seconds of time.monotonic().
        loop: the event loop of all requests, or None where they differ or have none.
        mixed: whether some have a loop and it is not the same for all.
        plain: whether the terms of all are known to be plain.
        tries: lanes that were lost with it.
    """

    key: Hashable
    requests: list[Request]
    rows: int
    reason: ReleaseReason
    formed: float
    loop: asyncio.AbstractEventLoop | None = None
    mixed: bool = False
    plain: bool = False
    tries: int = 0

    def part(self, requests: list[Request]) -> Batch:
        """A batch of some of its requests."""
        rows = sum(request.terms.rows for request in requests)
        return replace(self, requests=requests, rows=rows)

    def halves(self) -> tuple[Batch, Batch]:
        """Its requests, parted in the middle; there must be two or more."""
        middle = len(self.requests) // 2
        return self.part(self.requests[:middle]), self.part(self.requests[middle:])
