"""Work that is still running when the host goes on, where a device runs anything by itself."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import torch

from accelhal.facade import Device
from accelhal.spi import Support
from accelhal.testing.suite.base import SuiteBase

_LARGEST_MATRIX = 8192
"""Rows; a product of two takes 10 ms and more on the fastest boards of 2025."""

_LONG_LAUNCH_S = 0.25
"""Seconds for the launches of one chain: thousands of times what they take on a board."""


@dataclass(frozen=True)
class SlowWork:
    """A chain of matrix products queued in a stream, and what it leaves.

    Attributes:
        began: the host's time.perf_counter() before the chain was queued.
        start: timed event before the chain.
        end: timed event after it.
        result: tensor on the device: zeros until the chain has ended.
        expected: what it holds then.
        inputs: what the chain reads. Memory of another stream's tensor may be reused as soon as the
            tensor is dropped, so it is held for as long as this is.
    """

    began: float
    start: Any
    end: Any
    result: torch.Tensor
    expected: torch.Tensor
    inputs: tuple[torch.Tensor, ...]


def queue_slow_work(suite: SuiteBase, device: Device, stream: Any) -> SlowWork:
    """Queue slow work in a stream, after all that is queued in the current one.

    A board may be faster than the host launches; the matrices then grow until it is not, so that
    the caller finds the work unfinished. They do not grow where launching itself takes as long as
    the work: such a device computes in the call, whatever it declares.
    """
    size = suite.matrix_size
    by_itself = device.supports("streams") is Support.NATIVE and not device.simulated
    slow_launches = 0
    while True:
        work = queue_work(suite, device, stream, size, suite.work_rounds)
        if not by_itself or size >= _LARGEST_MATRIX or not work.end.query():
            return work
        if time.perf_counter() - work.began < _LONG_LAUNCH_S:
            size *= 2
        elif slow_launches:
            return work
        else:
            slow_launches += 1  # kernels are loaded at the first launch


def queue_work(suite: SuiteBase, device: Device, stream: Any, size: int, rounds: int) -> SlowWork:
    """Queue so many products of square matrices of `size` rows, each waiting for the one before."""
    identity = suite.put(torch.eye(size), device)
    values = torch.full((size, size), 3.0)
    chain = first = suite.put(values, device)
    result = suite.put(torch.zeros(size, size), device)
    start, end = device.Event(enable_timing=True), device.Event(enable_timing=True)
    stream.wait_stream(device.current_stream())
    with device.stream(stream):
        began = time.perf_counter()
        start.record(stream)
        for _ in range(rounds):
            chain = chain @ identity
        result.copy_(chain)
        end.record(stream)
    return SlowWork(began, start, end, result, values, (identity, first))
