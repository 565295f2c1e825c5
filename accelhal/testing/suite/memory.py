"""Group: memory figures follow what the process holds, per device, and looking changes nothing."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest
import torch

from accelhal.facade import Device
from accelhal.spi import Support
from accelhal.testing.suite.base import SuiteBase
from accelhal.testing.suite.requirements import not_applicable, requires


class Memory(SuiteBase):
    """Bytes; `allocation_bytes` are taken and given back."""

    @requires("memory_stats")
    def test_allocating_raises_the_allocated_figure(self, device: Device) -> None:
        """Allocating n bytes raises `memory_allocated` by n or more."""
        before = _settled(device)
        held = self._hold(device)
        grown = device.memory_allocated() - before
        assert grown >= held.nbytes - self._slack(device), (
            f"{held.nbytes} bytes allocated, memory_allocated grew by {grown}"
        )

    @requires("memory_stats")
    def test_dropping_lowers_the_allocated_figure(self, device: Device) -> None:
        """Dropping the tensor lowers `memory_allocated` to what it was."""
        before = _settled(device)
        held = self._hold(device)
        del held
        after = _settled(device)
        assert after <= before + self._slack(device), (
            f"memory_allocated was {before}, is {after} with the tensor dropped"
        )

    @requires("memory_stats")
    def test_peak_is_not_below_the_allocated_figure(self, device: Device) -> None:
        """`max_memory_allocated` is at least `memory_allocated`, and keeps a dropped tensor."""
        device.reset_peak_memory_stats()
        held = self._hold(device)
        nbytes, full = held.nbytes, device.memory_allocated()
        peak = device.max_memory_allocated()
        assert peak >= full - self._slack(device), f"the peak is {peak}, allocated {full}"
        del held
        after = _settled(device)
        peak = device.max_memory_allocated()
        assert peak >= after + nbytes - 2 * self._slack(device), (
            f"the peak is {peak}, {nbytes} bytes were held above {after}"
        )

    @requires("memory_stats")
    def test_reset_lowers_the_peak(self, device: Device) -> None:
        """`reset_peak_memory_stats` lowers the peak to the current figure."""
        held = self._hold(device)
        del held
        current = _settled(device)
        device.reset_peak_memory_stats()
        peak = device.max_memory_allocated()
        assert abs(peak - current) <= self._slack(device), f"{peak} after the reset, not {current}"

    @requires("memory_stats")
    @pytest.mark.parametrize(
        "getter",
        [Device.memory_allocated, Device.max_memory_allocated, Device.memory_stats],
        ids=lambda getter: getter.__name__,
    )
    def test_getters_keep_the_peak(
        self, getter: Callable[[Device], object], device: Device
    ) -> None:
        """Asking for a memory figure does not reset the peak."""
        device.reset_peak_memory_stats()
        held = self._hold(device)
        nbytes = held.nbytes
        del held
        current = _settled(device)
        getter(device)
        peak = device.max_memory_allocated()
        assert peak >= current + nbytes - 2 * self._slack(device), (
            f"{getter.__name__} resets the peak to {peak}"
        )

    @requires("memory_stats")
    def test_stats_agree_with_the_single_figures(self, device: Device) -> None:
        """`memory_stats` tells the figures that the single calls tell."""
        held = self._hold(device)
        stats = device.memory_stats()
        for name, single in (
            ("allocated", device.memory_allocated()),
            ("peak_allocated", device.max_memory_allocated()),
        ):
            told = getattr(stats, name)
            if told is not None:
                assert abs(told - single) <= self._slack(device), f"{name}: {told}, not {single}"
        del held

    @requires("memory_stats", devices=2)
    def test_figures_are_per_device(self, device: Device, other: Device) -> None:
        """Memory on one device does not show in another's figures."""
        before = (_settled(device), _settled(other))
        held = self._hold(other)
        here = device.memory_allocated() - before[0]
        there = other.memory_allocated() - before[1]
        assert here == 0, f"{held.nbytes} bytes on {other} raise {device}'s figure by {here}"
        assert there >= held.nbytes, f"{held.nbytes} bytes on {other} raise its figure by {there}"

    @requires("caching_allocator", "memory_stats")
    def test_reserved_is_not_below_allocated(self, device: Device) -> None:
        """`memory_reserved` is at least `memory_allocated`, and its peak at least it."""
        held = self._hold(device)
        reserved = device.memory_reserved()
        allocated, peak = device.memory_allocated(), device.max_memory_reserved()
        assert reserved >= allocated, f"reserved {reserved}, allocated {allocated}"
        assert allocated >= held.nbytes, f"{held.nbytes} bytes held, allocated {allocated}"
        assert peak >= reserved, f"the peak of reserved is {peak}, reserved {reserved}"

    @requires("caching_allocator", "memory_stats")
    def test_empty_cache_returns_unused_memory_only(self, device: Device) -> None:
        """`empty_cache` gives dropped memory back and leaves tensors as they are."""
        kept = self.put(torch.arange(1024.0), device)
        held = self._hold(device)
        nbytes = held.nbytes
        del held
        _settled(device)
        before = device.memory_reserved()
        device.empty_cache()
        after = device.memory_reserved()
        assert before - after >= nbytes, f"of {nbytes} dropped bytes {before - after} came back"
        assert torch.equal(self.get(kept), torch.arange(1024.0)), "a live tensor changed"

    @requires("memory_info")
    def test_free_and_used_make_the_total(self, device: Device) -> None:
        """`mem_get_info` is (free, total), and what is held is not free."""
        held = self._hold(device)
        free, total = device.mem_get_info()
        assert 0 < free <= total, f"free is {free}, total {total}"
        assert total - free >= held.nbytes, f"{held.nbytes} bytes held, used {total - free}"

    @requires("memory_info")
    def test_totals_agree(self, device: Device) -> None:
        """Total memory is the same, within a tenth, in properties and in `mem_get_info`."""
        known = device.properties.total_memory
        if known is None:
            not_applicable("the properties tell no total memory")
        total = device.mem_get_info()[1]
        assert abs(known - total) <= total / 10, f"properties say {known}, mem_get_info {total}"

    @requires("memory_info", devices=2)
    def test_free_memory_is_per_device(self, device: Device, other: Device) -> None:
        """Memory taken on one device is missing there, and not on another."""
        for each in (device, other):
            _settled(each)
            if each.supports("caching_allocator"):
                each.empty_cache()
        before = other.mem_get_info()[0]
        held = self._hold(other)
        assert before - other.mem_get_info()[0] >= held.nbytes, "it is not missing there"

    @requires("memory_fraction", "caching_allocator", "memory_info")
    def test_memory_fraction_caps_the_process(self, device: Device) -> None:
        """Beyond the fraction an allocation fails; with the whole device again it succeeds."""
        _settled(device)
        device.empty_cache()
        total = device.mem_get_info()[1]
        room = device.memory_reserved() + self.allocation_bytes
        device.set_per_process_memory_fraction(room / total)
        try:
            with pytest.raises(Exception):  # noqa: B017, PT011  (each vendor has its own)
                self.allocate(2 * self.allocation_bytes, device)
        finally:
            device.set_per_process_memory_fraction(1.0)
        self.allocate(2 * self.allocation_bytes, device)

    @requires("pin_memory")
    def test_pinned_memory_holds_the_values(self, device: Device) -> None:
        """`pin_memory` gives a page-locked host tensor of the same values."""
        found = device.pin_memory(torch.arange(64.0))
        assert found.device.type == "cpu", f"it lies on {found.device}"
        assert found.is_pinned(), "it is not page-locked"
        assert torch.equal(found, torch.arange(64.0)), "the pinned copy has other values"
        there = found.to(device.torch_device, non_blocking=True)
        device.synchronize()
        assert torch.equal(self.get(there), torch.arange(64.0)), "it arrives with other values"

    @requires("peer_access", devices=2)
    def test_tensors_move_between_devices(self, device: Device, other: Device) -> None:
        """A copy to another device holds the values, with peer access and without."""
        held = self.put(torch.arange(64.0), device)
        device.synchronize()
        there = self.put(held, other)
        other.synchronize()
        assert torch.equal(self.get(there), torch.arange(64.0)), "it arrives with other values"

    def _hold(self, device: Device) -> torch.Tensor:
        """A tensor whose every page is in use."""
        held = self.allocate(self.allocation_bytes, device)
        held.fill_(1)
        device.synchronize()
        return held

    def _slack(self, device: Device) -> int:
        emulated = device.supports("memory_stats") is Support.EMULATED
        return self.memory_slack_bytes if emulated else 0


def _settled(device: Device) -> int:
    """`memory_allocated` with all garbage collected and all work done."""
    gc.collect()
    device.synchronize()
    return device.memory_allocated() if device.supports("memory_stats") else 0
