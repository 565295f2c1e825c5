"""The one place where an error's text is matched: the texts that every torch backend shares."""

from __future__ import annotations

import re
from collections.abc import Sequence

import torch

from accelhal.errors import (
    AccelhalError,
    DeviceLostError,
    DeviceOutOfMemoryError,
    DeviceTimeoutError,
    DeviceUnhealthyError,
    ErrorKind,
    UnsupportedError,
    UsageError,
    message_of,
)

MessageTable = Sequence[tuple["re.Pattern[str]", ErrorKind]]
"""Patterns and what they mean; the first that is found in the message decides."""

_TYPED: Sequence[tuple[type[AccelhalError], ErrorKind]] = (
    (DeviceOutOfMemoryError, ErrorKind.OUT_OF_MEMORY),
    (DeviceLostError, ErrorKind.DEVICE_LOST),
    (DeviceUnhealthyError, ErrorKind.MEMORY_FAULT),
    (DeviceTimeoutError, ErrorKind.TIMEOUT),
    (UnsupportedError, ErrorKind.UNSUPPORTED),
    (UsageError, ErrorKind.USAGE),
)

_SHARED: MessageTable = (
    # Out of memory is a plain RuntimeError in some vendors' older releases: "NPU out of memory."
    (re.compile(r"\bout of memory\b", re.IGNORECASE), ErrorKind.OUT_OF_MEMORY),
    # DefaultCPUAllocator: "[enforce fail at alloc_cpu.cpp:…] … can't allocate memory: you tried …"
    (re.compile(r"DefaultCPUAllocator: (can't|not enough)"), ErrorKind.OUT_OF_MEMORY),
    (re.compile(r"Cannot re-initialize \w+ in forked subprocess"), ErrorKind.BAD_FORK),
    (re.compile(r"Expected all tensors to be on the same device"), ErrorKind.USAGE),
    # elapsed_time of an event that is untimed or not recorded yet; one vendor says "notifiers".
    (re.compile(r"^Both (events|notifiers) must be"), ErrorKind.USAGE),
    # set_rng_state of another size, or of another generator
    (
        re.compile(r"^(RNG state|Invalid mt19937 state|Expected a \w+GeneratorImplState)"),
        ErrorKind.USAGE,
    ),
)


def classify_message(error: BaseException, vendor_table: MessageTable = ()) -> ErrorKind:
    """Kind of an error, by its class first and its text last; the vendor's table goes first."""
    for error_class, kind in _TYPED:
        if isinstance(error, error_class):
            return kind
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return ErrorKind.OUT_OF_MEMORY
    if isinstance(error, NotImplementedError):
        return ErrorKind.UNSUPPORTED
    if not isinstance(error, (RuntimeError, ValueError)):
        return ErrorKind.UNKNOWN
    message = message_of(error)
    for table in (vendor_table, _SHARED):
        for pattern, kind in table:
            if pattern.search(message):
                return kind
    return ErrorKind.UNKNOWN
