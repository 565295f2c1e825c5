"""Filling a batch from a bucket: rows, padded tokens, who is gone, and who cannot be in time."""

from __future__ import annotations

from dataclasses import dataclass, field

from accelhal.batching.buckets import Backlog, Bucket
from accelhal.batching.request import ReleaseReason, Request


@dataclass(eq=False, slots=True)
class Filling:
    """Requests taken out of a bucket.

    Attributes:
        requests: those to run, claimed.
        rows: their rows.
        stopped: what kept more from being taken; None where no more waited.
        late: those whose deadline cannot be met, claimed.
        cancelled: how many nobody waited for any more, though their time was not over.
        plain: whether nobody in the bucket asked for anything special.
    """

    requests: list[Request] = field(default_factory=list)
    rows: int = 0
    stopped: ReleaseReason | None = None
    late: list[Request] = field(default_factory=list)
    cancelled: int = 0
    plain: bool = False


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
    found = Filling(plain=not bucket.special)
    if found.plain:
        _take_plain(backlog, bucket, most_rows, found)
    longest = 1 if found.requests else 0
    while bucket.rows:
        if found.rows >= most_rows:
            found.stopped = ReleaseReason.FULL
            break
        request = backlog.peek(bucket)
        terms = request.terms
        if found.requests:
            if found.rows + terms.rows > most_rows:
                found.stopped = ReleaseReason.FULL
                break
            padded = (found.rows + terms.rows) * max(longest, terms.length)
            if most_tokens is not None and padded > most_tokens:
                found.stopped = ReleaseReason.TOKENS
                break
        backlog.pop(bucket)
        if not claimed(request):
            found.cancelled += terms.deadline is None or terms.deadline > in_time
        elif terms.deadline is not None and terms.deadline < in_time:
            found.late.append(request)
        else:
            found.requests.append(request)
            found.rows += terms.rows
            longest = max(longest, terms.length)
    return found


def _take_plain(backlog: Backlog, bucket: Bucket, most_rows: int, found: Filling) -> None:
    """The common case, quickly: nobody in the bucket asks for anything special."""
    taken = backlog.pop_plain(bucket, most_rows)
    if taken:
        found.requests = [
            request
            for request in taken
            if (not request.reply.done() if request.loop is not None else request.reply.claim())  # type: ignore[union-attr]
        ]
        found.rows = len(found.requests)
        found.cancelled = len(taken) - found.rows


def claimed(request: Request) -> bool:
    """Take a request on for an answer; False where nobody waits for it any more."""
    if request.loop is not None:
        return not request.reply.done()
    return request.reply.claim()  # type: ignore[union-attr]
