"""What failures say, in the words that the vendors' runtimes use, and what each means."""

from __future__ import annotations

import re
from collections.abc import Mapping

from accelhal.errors import ErrorKind
from accelhal_mock.simulation.faults import FaultKind

FAULT_TEXTS: Mapping[FaultKind, str] = {
    FaultKind.LOST: "{name} error: GPU is lost: {board} has fallen off the bus",
    FaultKind.HANG: "{name} error: the launch timed out and was terminated",
    FaultKind.ECC_UNCORRECTED: "{name} error: uncorrectable ECC error encountered",
    FaultKind.LINK_DOWN: ("{name} error: uncorrectable NVLink error detected during the execution"),
}
"""By fault; `name` is the device type in capitals. CUDA's own strings (cudaGetErrorString), and
NVML's for a lost board."""

LIBRARY_TEXTS: Mapping[FaultKind, str] = {
    FaultKind.LIBRARY_MISSING: (
        "libmockml.so.1: cannot open shared object file: No such file or directory"
    ),
    FaultKind.LIBRARY_BROKEN: "libmockml.so.1: undefined symbol: mockmlInit",
    FaultKind.PERMISSION_DENIED: "Insufficient Permissions",
}
"""Of the driver library: the loader's words, and NVML's."""

BAD_FORK = (
    "Cannot re-initialize {name} in forked subprocess. To use {name} with multiprocessing, you "
    "must use the 'spawn' start method"
)
"""torch's own text, for every vendor."""

INVALID_ORDINAL = "{name} error: invalid device ordinal"

CAPTURE_UNSUPPORTED = "{name} error: operation not permitted when stream is capturing"
CAPTURE_INVALIDATED = "{name} error: operation failed due to a previous error during capture"
CAPTURE_ISOLATION = "{name} error: dependency created on uncaptured work in another stream"
CAPTURE_UNJOINED = "{name} error: capturing stream has unjoined work"
CAPTURED_EVENT = (
    "{name} error: operation not permitted on an event last recorded in a capturing stream"
)
CAPTURE_ON_DEFAULT_STREAM = (
    "{name} graphs must be captured on a non-default stream. (However, after capture, it's ok to "
    "replay them on the default stream.)"
)
EMPTY_GRAPH = "{name} graph holds no captured work: capture_begin and capture_end come first"
"""The texts of a capture's errors are CUDA's and torch's."""

MESSAGE_KINDS = (
    (re.compile(r"GPU is lost"), ErrorKind.DEVICE_LOST),
    (re.compile(r"the launch timed out and was terminated"), ErrorKind.TIMEOUT),
    (re.compile(r"uncorrectable ECC error"), ErrorKind.MEMORY_FAULT),
    (re.compile(r"uncorrectable NVLink error"), ErrorKind.LINK_FAULT),
    (re.compile(r"invalid device ordinal"), ErrorKind.USAGE),
    (re.compile(r"\bcapt(ur|ured)"), ErrorKind.USAGE),
)
"""A table for `accelhal.runtimes.error_messages.classify_message`."""
