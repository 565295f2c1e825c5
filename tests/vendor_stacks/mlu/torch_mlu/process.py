"""The simulated boards of this process, when they are first used, and what a fork does to them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from accelhal_mock import python_mode
from accelhal_mock.installation import configure
from accelhal_mock.profiles import BoardProfile, load_profile
from accelhal_mock.simulation import Machine

from torch_mlu.errors import ERRORS
from torch_mlu.settings import read_settings
from torch_mlu.visible import visible_boards

SETTINGS = read_settings()

VISIBLE = visible_boards(os.environ, SETTINGS.boards)
"""The driver's numbers of the boards that this process sees; position is torch's index."""

BAD_FORK = (
    "Cannot re-initialize MLU in forked subprocess. To use MLU with multiprocessing, "
    "you must use the 'spawn' start method"
)

_SLOWEST_RATE = 5e9
"""Operations a second: a product of matrices of 256 rows takes 7 ms, longer than on a busy host."""

_asked_driver = False
_queued: list[Callable[[], None]] = []


class LazyMachine(Machine):
    """Boards whose first use, by whatever call, does what waits for it."""

    _initialized = False

    @property
    def initialized(self) -> bool:
        return self._initialized

    @initialized.setter
    def initialized(self, used: bool) -> None:
        if not used or self._initialized:
            return
        if not VISIBLE:  # a machine has a board at least; this one is none that can be used
            raise ERRORS.board("CNRT error: no device")
        count_by_driver()
        self._initialized = True
        while _queued:
            call = _queued.pop(0)
            try:
                call()
            except Exception:
                continue  # torch_mlu makes the message of a deferred call's error; it is not raised


def _slowed(profile: BoardProfile) -> BoardProfile:
    """A board so slow that its work outlasts the host's part in it, as on a real one."""
    slowest = min(profile.peak_rates.values())
    rates = {dtype: rate / slowest * _SLOWEST_RATE for dtype, rate in profile.peak_rates.items()}
    return replace(profile, peak_rates=rates)


machine = LazyMachine(
    "mlu",
    configure(
        profile=[_slowed(load_profile(SETTINGS.product))] * max(1, len(VISIBLE)),
        clock="real",
        hazards="off",
    ),
)


def show() -> None:
    """Put the boards before torch, as device type "mlu"."""
    python_mode.install(machine, "mlu")
    machine.errors = ERRORS
    os.register_at_fork(after_in_child=_after_fork)


def count_by_driver() -> int:
    """Boards by cnrtGetDeviceCount: a process that asked it cannot be forked any more."""
    global _asked_driver
    _asked_driver = True
    return len(VISIBLE)


def is_initialized() -> bool:
    return machine.initialized and not machine.bad_fork


def lazy_init() -> None:
    """Create the context that the first use of a device needs.

    Raises:
        RuntimeError: the process was forked after its parent had asked the driver, or there is no
            device.
    """
    if machine.bad_fork:
        raise RuntimeError(BAD_FORK)
    machine.initialized = True


def once_initialized(call: Callable[[], None]) -> None:
    """Make a call now, or as soon as a device is used."""
    if is_initialized():
        call()
    else:
        _queued.append(call)


def _after_fork() -> None:
    if _asked_driver:
        machine.bad_fork = True
        for board in machine.boards:
            board.watched = True
