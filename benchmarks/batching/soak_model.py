"""The model of the soak: its answers name their requests, and it can be made to fail."""

from __future__ import annotations

import threading
import time

import torch
from torch import Tensor

from accelhal.errors import DeviceLostError

VOCABULARY = 1000
POISON = -1
# Slow enough that the device bounds the throughput, and not the machine that simulates it.
SECONDS_A_BATCH, SECONDS_A_TOKEN = 5e-3, 1e-6


class PoisonError(ValueError):
    """A request that no model could serve."""


class Model:
    """Takes (batch, lengths) padded with 0; answers with each row's number and its tokens' sum."""

    def __init__(self) -> None:
        self._lanes_to_kill = 0
        self._lock = threading.Lock()

    def kill_a_lane(self) -> None:
        """The lane that runs the next batch loses its device."""
        with self._lock:
            self._lanes_to_kill += 1

    def _killed(self) -> bool:
        with self._lock:
            killed = self._lanes_to_kill > 0
            self._lanes_to_kill -= killed
            return killed

    def __call__(self, batch: Tensor, lengths: Tensor) -> Tensor:
        if self._lanes_to_kill and self._killed():
            raise DeviceLostError("the soak took the device away", device="soak")
        if (batch == POISON).any():
            raise PoisonError("poison in the batch")
        time.sleep(SECONDS_A_BATCH + SECONDS_A_TOKEN * batch.numel())
        there = torch.arange(batch.shape[1])[None, :] < lengths[:, None]
        there[:, 0] = False
        return torch.stack((batch[:, 0], (batch * there).sum(1)), 1)
