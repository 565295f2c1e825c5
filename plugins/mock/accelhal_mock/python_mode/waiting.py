"""The host waits for a stream: first comes a last look at the memory that copies still use."""

from __future__ import annotations

from accelhal_mock.python_mode.host_watch import check_refills
from accelhal_mock.simulation import Board, Event, Stream


def wait_for(work: Stream | Event | Board) -> None:
    """Let the host wait until a stream, an event, or all streams of a board are done.

    Raises:
        torch.AcceleratorError: the board failed, hangs, or a stream of it is captured.
        HazardError: the source of a copy under way was changed.
    """
    check_refills()
    work.synchronize()


def is_done(work: Stream | Event) -> bool:
    """Whether a stream or an event is done; asks as `wait_for` waits."""
    check_refills()
    return work.query()
