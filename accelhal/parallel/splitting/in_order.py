"""A stream of batches over several devices, without a barrier; outputs come in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from accelhal.facade import Device
from accelhal.parallel.splitting.parts import Part
from accelhal.parallel.splitting.rows import row_count
from accelhal.parallel.splitting.under_way import UnderWay

WAITING = 2
"""Outputs a device that may wait for an earlier one, before no more batches are begun."""


class OrderedStream:
    """The outputs of batches, each of which a free device took whole.

    Args:
        batches: the model's only argument each, or a tuple of its arguments.
        under_way: the devices.
        call_on: the model on a device.
        target_of: where the output of a batch goes.
        count: devices.
    """

    def __init__(
        self,
        batches: Iterable[Any],
        under_way: UnderWay,
        call_on: Callable[[Device], Callable[..., Any]],
        target_of: Callable[[Any], torch.device],
        count: int,
    ) -> None:
        self._source = iter(batches)
        self._under_way = under_way
        self._call_on = call_on
        self._target_of = target_of
        self._most = WAITING * count
        self._jobs: dict[int, tuple[Any, int]] = {}
        self._again: deque[int] = deque()
        self._outputs: dict[int, Any] = {}
        self._read = 0
        self._ended = False
        self._error: Exception | None = None

    def __iter__(self) -> Iterator[Any]:
        try:
            following = 0
            while True:
                self._begin(following)
                if following in self._outputs:
                    yield self._outputs.pop(following)
                    following += 1
                elif self._under_way:
                    self._end_one()
                elif self._ended and following == self._read:
                    break
        finally:
            self._under_way.settle()
            close = getattr(self._source, "close", None)
            if close is not None:
                close()
        if self._error is not None:
            raise self._error

    def _begin(self, following: int) -> None:
        for device in self._under_way.free():
            index = self._next_index(following)
            if index is None:
                return
            batch, rows = self._jobs[index]
            part = Part(device, 0, rows, value=index)
            with torch.no_grad():
                begun = self._under_way.begin(
                    part, self._call_on(device), batch, self._target_of(batch)
                )
            if not begun:
                self._again.append(index)

    def _next_index(self, following: int) -> int | None:
        if self._again:
            return self._again.popleft()
        if self._ended or self._read - following >= self._most:
            return None
        try:
            batch = next(self._source)
            job: tuple[Any, dict[str, Any]] = (batch if isinstance(batch, tuple) else (batch,), {})
            rows = row_count(job)
        except StopIteration:
            self._ended = True
            return None
        except Exception as error:  # raised in its place: after the outputs before it
            self._ended, self._error = True, error
            return None
        index, self._read = self._read, self._read + 1
        self._jobs[index] = job, rows
        return index

    def _end_one(self) -> None:
        with torch.no_grad():
            part, output, done = self._under_way.next_ended()
        if done:
            self._outputs[part.value] = output
            del self._jobs[part.value]
        else:
            self._again.append(part.value)
