"""Launches on several devices at once: which are free, which ends next, and who was lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import torch

from accelhal.errors import ErrorKind, described, warn
from accelhal.facade import Device
from accelhal.parallel.splitting.failures import is_loss, kind_of, named
from accelhal.parallel.splitting.launches import Launch, Launcher
from accelhal.parallel.splitting.parts import Part
from accelhal.parallel.splitting.splitter import BatchSplitter
from accelhal.parallel.waiting import wait_until

LOOKS_AT_FIRST = 16
"""Looks at the launch that should end first, for each look at all of them."""


class UnderWay:
    """Parts that devices work on, one each.

    Args:
        launchers: of the splitter's devices.
        splitter: observes what ends, and loses what is lost.
        lost: where lost devices are noted.
        redo: whether a lost device's rows may be done by another; else its error is raised.
        timeout: seconds that one part may take.
    """

    def __init__(
        self,
        launchers: Mapping[Device, Launcher],
        splitter: BatchSplitter,
        lost: dict[Device, ErrorKind],
        *,
        redo: bool,
        timeout: float,
    ) -> None:
        self._launchers = launchers
        self._splitter = splitter
        self._lost = lost
        self._redo = redo
        self._timeout = timeout
        self._launches: dict[Device, tuple[Launch, torch.device]] = {}

    def __bool__(self) -> bool:
        return bool(self._launches)

    def free(self) -> list[Device]:
        """Devices without work. Those that compute while the host waits come last."""
        free = (one for one in self._splitter.devices if one not in self._launches)
        return sorted(free, key=lambda one: not self._launchers[one].asynchronous)

    def begin(self, part: Part, call: Callable[..., Any], batch: Any, target: torch.device) -> bool:
        """Launch a part on its device; False where the device was lost, and the part is to redo.

        Args:
            part: which rows, and where.
            call: the model on that device.
            batch: (arguments, keyword arguments) of those rows.
            target: where outputs go.
        """
        device: Device = part.device
        try:
            launch = self._launchers[device].launch(call, batch, part, target)
        except Exception as error:
            self._failed(device, part, error)
            return False
        self._launches[device] = launch, target
        return True

    def next_ended(self) -> tuple[Part, Any, bool]:
        """Wait for a launch to end: its part, its output on the target, and True.

        False, and no output, where its device was lost and the part is to redo.
        """
        device = self._wait()
        launch, target = self._launches.pop(device)
        part = launch.part
        try:
            wait_until(launch.is_done, self._timeout, device, f"rows {part.start} to {part.stop}")
            self._splitter.observe(device, part.rows, launch.finish())
            return part, self._launchers[device].collect(launch.output, target), True
        except Exception as error:
            self._failed(device, part, error)
            return part, None, False

    def settle(self) -> None:
        """Wait for what is still under way; errors are passed over, as one was raised already."""
        for device, (launch, _) in self._launches.items():
            with suppress(Exception):
                wait_until(launch.is_done, self._timeout, device, "its work")
        self._launches.clear()

    def _wait(self) -> Device:
        """The device whose launch ended; the one that should be next, where waiting fails."""
        first = min(self._launches, key=self._expected_end)
        looks = 0

        def ended() -> bool:
            nonlocal first, looks
            looks += 1
            if self._launches[first][0].is_done():
                return True
            if looks % LOOKS_AT_FIRST == 0:
                for device, (launch, _) in self._launches.items():
                    if launch.is_done():
                        first = device
                        return True
            return False

        with suppress(Exception):  # next_ended meets it again, and knows whose it is
            wait_until(ended, self._timeout, first, "its rows")
        return first

    def _expected_end(self, device: Device) -> float:
        launch = self._launches[device][0]
        return launch.began + (self._splitter.expected_seconds(device, launch.part.rows) or 0.0)

    def _failed(self, device: Device, part: Part, error: Exception) -> None:
        """Take a lost device out where its rows may be redone; else raise what happened."""
        kind = kind_of(error, device)
        if not (self._redo and is_loss(kind)):
            raise named(error, device, part) from error
        self._lost[device] = kind
        warn(f"{device} was lost and is taken out ({described(error)}); others do its rows")
        try:
            self._splitter.remove(device)
        except Exception as last:
            raise last from error
