"""Errors that every vendor's table has to get right: a user's own, hostile ones, and noise."""

from __future__ import annotations

import torch
from hypothesis import strategies as st

USERS_OWN: tuple[BaseException, ...] = (
    RuntimeError("shape mismatch: [2, 3] and [4, 5]"),
    RuntimeError("the pool of workers ran out of memory budget"),
    RuntimeError("customer 507035 not found, error code 12"),
    RuntimeError("request timed out after 30 s"),
    RuntimeError("device lost by the courier"),
    RuntimeError("communicator badge missing"),
    RuntimeError("invalid argument"),
    RuntimeError("operation not supported"),
    RuntimeError("SPACE2024 EX1001: unknown exhibit"),
    RuntimeError(""),
    ValueError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    ValueError("NPU function error: x, error code is 507035"),
    ValueError("CNRT error: out of memory"),
    TypeError("CUDA error: device-side assert triggered"),
    KeyError("out of memory"),
    AssertionError("expected no CUDA out of memory. here"),
    AttributeError("error code is 507010"),
    OSError(28, "No space left on device"),
    ImportError("libhccl.so: cannot open shared object file: No such file or directory"),
    StopIteration(),
    KeyboardInterrupt(),
    SystemExit(1),
)
"""None is a device's: each is UNKNOWN, whatever words it holds."""


class NoMessage(RuntimeError):
    """Its text cannot be had."""

    def __str__(self) -> str:
        raise ValueError("no message")


class NoAttributes(RuntimeError):
    """What a table may ask of it cannot be read."""

    @property
    def exceptions(self) -> object:
        raise ValueError("no members")

    code = error_code = value = exceptions


class OddCode(torch.AcceleratorError if hasattr(torch, "AcceleratorError") else RuntimeError):
    """Its code is no number."""

    error_code = "many"


def circular() -> RuntimeError:
    first, second = RuntimeError("first"), RuntimeError("second")
    first.__cause__, second.__cause__ = second, first
    return first


HOSTILE: tuple[BaseException, ...] = (
    NoMessage(),
    NoAttributes("x"),
    OddCode("x"),
    circular(),
    RuntimeError(b"\xff"),
    RuntimeError(None, 1),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
)
"""Classified without raising."""

ADDED_LINES = (
    "CUDA kernel errors might be asynchronously reported at some other API call",
    "[ERROR] 2026-01-28-17:23:40 (PID:18, Device:0, RankID:-1) ERR00100 PTA call acl api failed",
    "        TraceBack (most recent call last):",
    "Exception raised from query at build/CMakeFiles/torch_npu.dir/compiler_depend.ts:59",
    "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0xb0 (0xffff8c in libc10.so)",
    "Device-side assertions were explicitly omitted for this error check",
)
"""What torch, the vendors and loggers put after a message, or leave away."""

noise = st.lists(st.one_of(st.sampled_from(ADDED_LINES), st.text(max_size=40)), max_size=6).map(
    lambda lines: "".join(f"\n{line}" for line in lines)
)
"""Lines after a message."""

anything = st.one_of(
    st.builds(RuntimeError, st.text()),
    st.builds(ValueError, st.text()),
    st.builds(NotImplementedError, st.text()),
    st.builds(torch.OutOfMemoryError, st.text()),
    st.builds(KeyError, st.one_of(st.none(), st.integers(), st.text())),
    st.builds(OSError, st.integers(-1000, 1000), st.text()),
    st.sampled_from(HOSTILE),
)
"""Errors of any sort."""


def with_lines(error: BaseException, lines: str) -> BaseException:
    """The same error with lines after its message."""
    copy = type(error)(f"{error}{lines}")
    copy.__dict__.update(error.__dict__)
    return copy
