"""The kernel's log as /dev/kmsg gives it: read without waiting, and no more than fits."""

from __future__ import annotations

import os
from collections import deque

from accelhal.host.host import Host

KMSG = "/dev/kmsg"

MOST_LINES = 20_000
"""Lines that are kept, the latest: rings of kernels hold fewer."""

_RECORD_BYTES = 8192
"""A record is given whole or not at all; the kernel's are under 1024 (printk's LOG_LINE_MAX)."""


def read_kernel_log(host: Host) -> tuple[str, ...] | str:
    """The lines, oldest first, or why they cannot be read."""
    lines: deque[str] = deque(maxlen=MOST_LINES)
    try:
        descriptor = os.open(host.path(KMSG), os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        return f"{KMSG}: {error.strerror}"
    try:
        while True:
            try:
                record = os.read(descriptor, _RECORD_BYTES)
            except BlockingIOError:
                break
            except BrokenPipeError:  # the ring went over it meanwhile; the next read goes on
                continue
            if not record:
                break
            lines += record.decode("utf-8", "replace").splitlines()
    except OSError as error:
        return f"{KMSG}: {error.strerror}"
    finally:
        os.close(descriptor)
    return tuple(lines)
