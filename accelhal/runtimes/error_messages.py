"""The one place where an error's text is matched: the texts that every torch backend shares."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import torch

from accelhal.errors import (
    AccelhalError,
    DeviceLostError,
    DeviceNotFoundError,
    DeviceOutOfMemoryError,
    DeviceTimeoutError,
    DeviceUnhealthyError,
    DistributedError,
    ErrorKind,
    ErrorScope,
    UnsupportedError,
    UsageError,
    message_of,
)

MessageTable = Sequence[tuple["re.Pattern[str]", ErrorKind]]
"""Patterns and what they mean; the first that is found in the message decides.

Vendors append lines, and change them: a pattern names the part that carries the meaning.
"""

CodeReader = Callable[[BaseException], "ErrorKind | None"]
"""Finds the kind by the vendor's own error code; None where an error carries none that it knows."""

_TYPED: Sequence[tuple[type[AccelhalError], ErrorKind]] = (
    (DeviceOutOfMemoryError, ErrorKind.OUT_OF_MEMORY),
    (DeviceLostError, ErrorKind.DEVICE_LOST),
    (DeviceUnhealthyError, ErrorKind.MEMORY_FAULT),
    (DeviceTimeoutError, ErrorKind.TIMEOUT),
    (DeviceNotFoundError, ErrorKind.USAGE),
    (DistributedError, ErrorKind.COMMUNICATION),
    (UnsupportedError, ErrorKind.UNSUPPORTED),
    (UsageError, ErrorKind.USAGE),
)

_SHARED: MessageTable = (
    # Out of memory is a plain RuntimeError in some vendors' older releases. A bare "out of memory"
    # is anybody's sentence: the device type in capitals and the rest of torch's own make it one.
    (re.compile(r"\b[A-Z]+ out of memory\. Tried to allocate"), ErrorKind.OUT_OF_MEMORY),
    (re.compile(r"\b[A-Z]+ (driver )?error: out of memory\b"), ErrorKind.OUT_OF_MEMORY),
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
    # AssertionError of get_device_name and get_device_properties in every vendor's module
    (re.compile(r"^Invalid device id\b"), ErrorKind.USAGE),
    # a model that names another vendor's device
    (re.compile(r"^Torch not compiled with \w+ enabled"), ErrorKind.USAGE),
    (re.compile(r"^Expected one of cpu, .* device type at start of device"), ErrorKind.USAGE),
    (re.compile(r"Cannot access accelerator device when none is"), ErrorKind.DEVICE_UNAVAILABLE),
    # c10d, torch 2.1 to 2.13: the watchdog of ProcessGroupNCCL, which the vendors' groups copy
    (re.compile(r"Watchdog caught collective operation timeout: "), ErrorKind.COMMUNICATION),
    (re.compile(r"\b[A-Z]+ communicator was aborted on rank \d"), ErrorKind.COMMUNICATION),
    (re.compile(r"\bgloo/transport/\w+/\w+\.cc:\d+\]"), ErrorKind.COMMUNICATION),
    (re.compile(r"\bfailed to pass monitoredBarrier in \d+ ms"), ErrorKind.COMMUNICATION),
)

_ARGUMENT_ERRORS = (ValueError, AssertionError, SystemError)
"""What Python and torch raise for bad arguments: their text can say USAGE and nothing graver, so
that a ValueError of the user's own is never taken for a device's fault."""

_MOST_LINKS = 50
"""How far a chain of causes and groups is followed."""

_SCOPES = (ErrorScope.REQUEST, ErrorScope.DEVICE, ErrorScope.PROCESS)


def classify_message(
    error: BaseException, vendor_table: MessageTable = (), vendor_code: CodeReader | None = None
) -> ErrorKind:
    """Kind of an error: by its class, then the vendor's code, then its text; the vendor's first.

    An error that says nothing itself is what its `__cause__` is. One of accelhal's own is too,
    where the cause says more than the class. A group is the gravest of its members.

    Args:
        error: what was raised.
        vendor_table: the vendor's texts.
        vendor_code: reads the vendor's error code.

    Returns:
        The kind; UNKNOWN where nothing tells. Never raises.
    """
    return _kind(error, lambda found: _own_kind(found, vendor_table, vendor_code), {}, 0)


def find_kind(message: str, table: MessageTable) -> ErrorKind | None:
    """The kind of the first pattern that is in a message."""
    return next((kind for pattern, kind in table if pattern.search(message)), None)


def attribute_of(error: BaseException, name: str) -> object:
    """An error's attribute; None where it has none, or its class fails to say."""
    try:
        return getattr(error, name, None)
    except Exception:
        return None


def _kind(
    error: BaseException,
    own_kind: Callable[[BaseException], ErrorKind],
    known: dict[int, ErrorKind],
    links: int,
) -> ErrorKind:
    """Kind of an error with its members and causes; `known` holds what was found, by id."""
    if id(error) in known or links > _MOST_LINKS:
        return known.get(id(error), ErrorKind.UNKNOWN)
    known[id(error)] = ErrorKind.UNKNOWN  # of one that is its own cause
    members = _members(error)
    if members:
        found = _gravest(_kind(member, own_kind, known, links + 1) for member in members)
    else:
        found = own_kind(error)
        cause = error.__cause__
        if cause is not None and (found is ErrorKind.UNKNOWN or isinstance(error, AccelhalError)):
            of_cause = _kind(cause, own_kind, known, links + 1)
            found = found if of_cause is ErrorKind.UNKNOWN else of_cause
    known[id(error)] = found
    return found


def _own_kind(
    error: BaseException, vendor_table: MessageTable, vendor_code: CodeReader | None
) -> ErrorKind:
    for error_class, kind in _TYPED:
        if isinstance(error, error_class):
            return kind
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return ErrorKind.OUT_OF_MEMORY
    by_code = vendor_code(error) if vendor_code else None
    if by_code is not None:
        return by_code
    if isinstance(error, NotImplementedError):
        return ErrorKind.UNSUPPORTED
    if not isinstance(error, (RuntimeError, *_ARGUMENT_ERRORS)):
        return ErrorKind.UNKNOWN
    message = message_of(error)
    found = find_kind(message, vendor_table) or find_kind(message, _SHARED)
    if isinstance(error, _ARGUMENT_ERRORS) and not isinstance(error, RuntimeError):
        return ErrorKind.USAGE if found is ErrorKind.USAGE else ErrorKind.UNKNOWN
    if found is None and isinstance(error, _distributed_errors()):
        return ErrorKind.COMMUNICATION
    return found or ErrorKind.UNKNOWN


def _distributed_errors() -> tuple[type[BaseException], ...]:
    """Errors of torch's process groups and stores; a torch built without them has none."""
    found = getattr(torch.distributed, "DistError", None)
    return (found,) if found else ()


def _members(error: BaseException) -> tuple[BaseException, ...]:
    """The errors in an ExceptionGroup, Python's (3.11) or its backport's."""
    members = attribute_of(error, "exceptions")
    if not isinstance(members, tuple):
        return ()
    return tuple(member for member in members if isinstance(member, BaseException))


def _gravest(kinds: Iterable[ErrorKind]) -> ErrorKind:
    """The kind that spoils most; an unknown one may not be passed off as a request's."""
    return max(kinds, key=lambda kind: (_SCOPES.index(kind.scope), kind is ErrorKind.UNKNOWN))
