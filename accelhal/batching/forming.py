"""Filling a batch from a bucket: rows, padded tokens, who is gone, and who cannot be in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from accelhal.batching.buckets import Backlog, Bucket
from accelhal.batching.request import ReleaseReason, Request


class Filling(NamedTuple):
    """Requests taken out of a bucket.

    Attributes:
        requests: those to run, claimed.
        rows: their rows.
        stopped: what kept more from being taken; None where no more waited.
        cancelled: how many nobody waited for any more, though their time was not over.
        late: those whose deadline cannot be met, claimed.
        plain: whether nobody in the bucket asked for anything special.
    """

    requests: list[Request]
    rows: int
    stopped: ReleaseReason | None
    cancelled: int
    late: Sequence[Request] = ()
    plain: bool = False


def fill_plain(backlog: Backlog, bucket: Bucket, most_rows: int) -> Filling:
    """Take a batch out of a bucket in which nobody asks for anything special, and quickly."""
    requests: list[Request] = []
    cancelled = 0
    while bucket.rows and len(requests) < most_rows:
        taken = backlog.pop_plain(bucket, most_rows - len(requests))
        requests += [
            request
            for request in taken
            if (not request.reply.done() if request.loop is not None else request.reply.claim())  # type: ignore[union-attr]
        ]
        cancelled += len(taken)
    rows = len(requests)
    stopped = ReleaseReason.FULL if bucket.rows else None
    return Filling(requests, rows, stopped, cancelled - rows, (), True)


def fill(
    backlog: Backlog, bucket: Bucket, most_rows: int, most_tokens: int | None, in_time: float
) -> Filling:
    """Take a batch out of a bucket, the most urgent first.

    The first request is taken whatever its size, so that none waits for ever.

    Args:
        backlog: what waits; its owner's lock is held.
        bucket: the one to take from.
        most_rows: rows of a batch.
        most_tokens: rows times the greatest length of a batch; None for no limit.
        in_time: seconds of time.monotonic(); requests with an earlier deadline would be late.
    """
    requests: list[Request] = []
    late: list[Request] = []
    rows = cancelled = longest = 0
    stopped: ReleaseReason | None = None
    while bucket.rows:
        request = backlog.peek(bucket)
        terms = request.terms
        if requests:
            if rows + terms.rows > most_rows:
                stopped = ReleaseReason.FULL
                break
            padded = (rows + terms.rows) * max(longest, terms.length)
            if most_tokens is not None and padded > most_tokens:
                stopped = ReleaseReason.TOKENS
                break
        backlog.pop(bucket)
        if not claimed(request):
            cancelled += terms.deadline is None or terms.deadline > in_time
        elif terms.deadline is not None and terms.deadline < in_time:
            late.append(request)
        else:
            requests.append(request)
            rows += terms.rows
            longest = max(longest, terms.length)
    return Filling(requests, rows, stopped, cancelled, late)


def claimed(request: Request) -> bool:
    """Take a request on for an answer; False where nobody waits for it any more."""
    if request.loop is not None:
        return not request.reply.done()
    return request.reply.claim()  # type: ignore[union-attr]
