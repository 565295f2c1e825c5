"""Group: exhausted memory is one known error, and the device goes on."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import torch

from accelhal.errors import ErrorKind
from accelhal.facade import Device
from accelhal.testing.suite.base import SuiteBase
from accelhal.testing.suite.requirements import not_applicable, requires


class OutOfMemory(SuiteBase):
    """Model code raises outside the facade: the error's class and its kind are what counts."""

    def test_huge_allocation_is_classified_as_out_of_memory(self, device: Device) -> None:
        """An allocation beyond any device is ErrorKind.OUT_OF_MEMORY."""
        error = self._exhaust(device)
        kind = device.classify_error(error)
        assert kind is ErrorKind.OUT_OF_MEMORY, f"{type(error).__name__} ({error}) is {kind.name}"

    def test_huge_allocation_raises_torch_s_error(self, device: Device) -> None:
        """An allocation beyond any device raises torch.OutOfMemoryError."""
        if device.torch_device.type == "cpu":
            not_applicable("torch's allocator of host memory raises RuntimeError")
        error = self._exhaust(device)
        assert isinstance(error, torch.OutOfMemoryError), f"it raises {type(error).__name__}"

    def test_allocation_beyond_the_total_fails(self, device: Device) -> None:
        """A device with memory of its own serves no more than its total."""
        total = device.properties.total_memory
        if total is None or device.properties.integrated:
            not_applicable("it shares the host's memory")
        with pytest.raises(Exception) as refusal:  # noqa: PT011  (each vendor has its own)
            self.allocate(total + (64 << 20), device)
        kind = device.classify_error(refusal.value)
        assert kind is ErrorKind.OUT_OF_MEMORY, f"{refusal.value} is {kind.name}"

    def test_device_computes_after_out_of_memory(self, device: Device) -> None:
        """After an out-of-memory error the device allocates and computes."""
        self._exhaust(device)
        found = self.get(self.put(torch.ones(4), device) + 1)
        assert found.tolist() == [2.0] * 4, f"1 + 1 is {found.tolist()} after the error"

    @requires("memory_stats")
    def test_failed_allocation_holds_nothing(self, device: Device) -> None:
        """An allocation that failed leaves `memory_allocated` as it was."""
        gc.collect()
        before = device.memory_allocated()
        self._exhaust(device)
        gc.collect()
        grown = device.memory_allocated() - before
        assert grown <= self.memory_slack_bytes, f"memory_allocated grew by {grown}"

    def test_other_errors_are_not_out_of_memory(self, device: Device) -> None:
        """Errors of another sort are not called out of memory."""
        here = self.put(torch.ones(2, 3), device)
        with pytest.raises(RuntimeError) as mismatch:
            here @ here
        kind = device.classify_error(mismatch.value)
        assert kind is not ErrorKind.OUT_OF_MEMORY, f"a shape mismatch is {kind.name}"
        assert not kind.sticky, f"a shape mismatch is {kind.name}, which spoils the device"

    def _exhaust(self, device: Device) -> BaseException:
        with pytest.raises(Exception) as refusal:  # noqa: PT011  (each vendor has its own)
            self.allocate(self.impossible_bytes, device)
        error: Any = refusal.value
        return error  # type: ignore[no-any-return]
