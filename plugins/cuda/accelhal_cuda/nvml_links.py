"""The NVLinks of a board, as NVML tells them one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pynvml

from accelhal.drivers.readings import NotReportedError
from accelhal.facts import BoardKey, Link
from accelhal_cuda.nvml import ask
from accelhal_cuda.nvml_figures import address, or_none

_ERRORS = {"replay": 0, "recovery": 1, "crc_flit": 2, "crc_data": 3}
"""nvmlNvLinkErrorCounter_t"""


def links_of(handle: Any, addresses: Mapping[str | None, BoardKey]) -> Iterator[Link]:
    """The links of the board, up to the first that it does not have.

    Args:
        handle: NVML's, of the board.
        addresses: PCI address -> the board there, to name what a link leads to.
    """
    for number in range(pynvml.NVML_NVLINK_MAX_LINKS):
        try:
            up = bool(ask(pynvml.nvmlDeviceGetNvLinkState, handle, number))
        except NotReportedError:
            return  # boards have fewer links than the header allows
        version = or_none(pynvml.nvmlDeviceGetNvLinkVersion, handle, number)
        remote = or_none(pynvml.nvmlDeviceGetNvLinkRemotePciInfo, handle, number)
        counts = {
            name: or_none(pynvml.nvmlDeviceGetNvLinkErrorCounter, handle, number, counter)
            for name, counter in _ERRORS.items()
        }
        yield Link(
            kind="NVLink",
            peer=addresses.get(address(remote)) if remote else None,
            up=up,
            number=number,
            version=None if version is None else str(version),
            errors={name: count for name, count in counts.items() if count is not None},
        )
