"""Group: memory figures follow what the process holds, per device, and looking changes nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest
import torch

from accelhal.facade import Device
from accelhal.spi import Support
from accelhal.testing.suite.base import SuiteBase
from accelhal.testing.suite.held_memory import emptied, figures, hold, settled, told_twice
from accelhal.testing.suite.requirements import not_applicable, on_two_devices, requires


class Memory(SuiteBase):
    """Bytes; `allocation_bytes` are taken and given back."""

    @requires("memory_stats")
    def test_allocating_raises_the_allocated_figure(self, device: Device) -> None:
        """Allocating n bytes raises `memory_allocated` by n, rounded up to less than 2 n."""
        before = settled(device)
        held = hold(self, device)
        grown = device.memory_allocated() - before
        assert grown >= held.nbytes - self._slack(device), (
            f"{held.nbytes} bytes allocated, memory_allocated grew by {grown}"
        )
        assert grown < 2 * held.nbytes + self._slack(device), (
            f"{held.nbytes} bytes allocated, memory_allocated grew by {grown}: another unit"
        )

    @requires("memory_stats")
    def test_dropping_lowers_the_allocated_figure(self, device: Device) -> None:
        """Dropping the tensor lowers `memory_allocated` to what it was."""
        before = settled(device)
        held = hold(self, device)
        del held
        after = settled(device)
        assert after <= before + self._slack(device), (
            f"memory_allocated was {before}, is {after} with the tensor dropped"
        )

    @requires("memory_stats")
    def test_peak_is_not_below_the_allocated_figure(self, device: Device) -> None:
        """`max_memory_allocated` is at least `memory_allocated`, and keeps a dropped tensor."""
        device.reset_peak_memory_stats()
        held = hold(self, device)
        nbytes, full = held.nbytes, device.memory_allocated()
        peak = device.max_memory_allocated()
        assert peak >= full - self._slack(device), f"the peak is {peak}, allocated {full}"
        del held
        after = settled(device)
        peak = device.max_memory_allocated()
        assert peak >= after + nbytes - 2 * self._slack(device), (
            f"the peak is {peak}, {nbytes} bytes were held above {after}"
        )

    @requires("memory_stats")
    def test_peak_is_not_a_sum(self, device: Device) -> None:
        """Memory taken one piece after the other counts once in `max_memory_allocated`."""
        before = settled(device)
        device.reset_peak_memory_stats()
        for _ in range(3):
            held = hold(self, device)
            nbytes = held.nbytes
            del held
            settled(device)
        peak = device.max_memory_allocated() - before
        assert peak < 2 * nbytes + self._slack(device), (
            f"three times {nbytes} bytes, one after the other, raise the peak by {peak}"
        )

    @requires("memory_stats")
    @on_two_devices
    def test_reset_lowers_the_peak(self, device: Device) -> None:
        """`reset_peak_memory_stats` lowers the peak to the current figure."""
        kept, held = hold(self, device), hold(self, device)
        del held
        current = settled(device)
        device.reset_peak_memory_stats()
        peak = device.max_memory_allocated()
        assert abs(peak - current) <= self._slack(device), f"{peak} after the reset, not {current}"
        del kept

    @requires("caching_allocator", "memory_stats")
    def test_reset_lowers_the_reserved_peak(self, device: Device) -> None:
        """`reset_peak_memory_stats` lowers `max_memory_reserved` to the current figure."""
        held = hold(self, device)
        del held
        emptied(device)
        device.reset_peak_memory_stats()
        peak, current = device.max_memory_reserved(), device.memory_reserved()
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
        held = hold(self, device)
        nbytes = held.nbytes
        del held
        current = settled(device)
        getter(device)
        peak = device.max_memory_allocated()
        assert peak >= current + nbytes - 2 * self._slack(device), (
            f"{getter.__name__} resets the peak to {peak}"
        )

    @requires("memory_stats")
    def test_stats_agree_with_the_single_figures(self, device: Device) -> None:
        """`memory_stats` tells the figures that the single calls tell."""
        held = hold(self, device)
        for name, (told, single) in told_twice(device).items():
            assert abs(told - single) <= self._slack(device), f"{name}: {told}, not {single}"
        del held

    @requires("memory_stats", devices=2)
    def test_figures_are_per_device(self, device: Device, other: Device) -> None:
        """Memory on one device does not show in another's figures."""
        for each in (device, other):
            emptied(each)
            each.reset_peak_memory_stats()
        before = figures(device), figures(other)
        held = hold(self, other)
        after = figures(device), figures(other)
        for name in before[0]:
            here, there = (now[name] - was[name] for was, now in zip(before, after, strict=True))
            raised = f"{held.nbytes} bytes on {other} raise {name} of"
            assert here == 0, f"{raised} {device} by {here}"
            assert there >= held.nbytes, f"{raised} {other} by {there}"

    @requires("memory_stats", devices=2)
    def test_resetting_one_peak_keeps_another(self, device: Device, other: Device) -> None:
        """`reset_peak_memory_stats` of one device leaves another's peak."""
        device.reset_peak_memory_stats()
        held = hold(self, device)
        nbytes = held.nbytes
        del held
        current = settled(device)
        other.reset_peak_memory_stats()
        peak = device.max_memory_allocated()
        assert peak >= current + nbytes - 2 * self._slack(device), (
            f"a reset of {other} lowers {device}'s peak to {peak}"
        )

    @requires("caching_allocator", "memory_info", "memory_stats")
    @pytest.mark.parametrize(
        "getter", [Device.mem_get_info, Device.memory_stats], ids=lambda getter: getter.__name__
    )
    def test_getters_keep_the_cache(
        self, getter: Callable[[Device], object], device: Device
    ) -> None:
        """Asking for a memory figure does not empty the cache."""
        held = hold(self, device)
        del held
        settled(device)
        before = device.memory_reserved()
        getter(device)
        after = device.memory_reserved()
        assert after == before, f"{getter.__name__} changes memory_reserved: {before}, {after}"

    @requires("caching_allocator", "memory_stats")
    def test_reserved_is_not_below_allocated(self, device: Device) -> None:
        """`memory_reserved` is at least `memory_allocated`, and its peak at least it."""
        held = hold(self, device)
        reserved = device.memory_reserved()
        allocated, peak = device.memory_allocated(), device.max_memory_reserved()
        assert reserved >= allocated, f"reserved {reserved}, allocated {allocated}"
        assert allocated >= held.nbytes, f"{held.nbytes} bytes held, allocated {allocated}"
        assert peak >= reserved, f"the peak of reserved is {peak}, reserved {reserved}"

    @requires("caching_allocator", "memory_stats")
    @on_two_devices
    def test_empty_cache_returns_unused_memory_only(self, device: Device) -> None:
        """`empty_cache` gives dropped memory back and leaves tensors as they are."""
        kept = self.put(torch.arange(1024.0), device)
        held = hold(self, device)
        nbytes = held.nbytes
        del held
        settled(device)
        before = device.memory_reserved()
        device.empty_cache()
        after = device.memory_reserved()
        assert before - after >= nbytes, f"of {nbytes} dropped bytes {before - after} came back"
        assert torch.equal(self.get(kept), torch.arange(1024.0)), "a live tensor changed"

    @requires("memory_info")
    @on_two_devices
    def test_free_and_used_make_the_total(self, device: Device) -> None:
        """`mem_get_info` is (free, total), and what is held is not free."""
        held = hold(self, device)
        free, total = device.mem_get_info()
        assert 0 < free <= total, f"free is {free}, total {total}"
        assert total - free >= held.nbytes, f"{held.nbytes} bytes held, used {total - free}"

    @on_two_devices
    def test_total_memory_is_in_bytes(self, device: Device) -> None:
        """The properties' total memory is not less than what the device holds."""
        known = device.properties.total_memory
        if known is None:
            not_applicable("the properties tell no total memory")
        held = hold(self, device)
        assert known >= held.nbytes, f"{held.nbytes} bytes lie on a device of {known} in all"

    @requires("memory_info")
    @on_two_devices
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
            emptied(each)
        before = [each.mem_get_info()[0] for each in (device, other)]
        held = hold(self, other)
        after = [each.mem_get_info()[0] for each in (device, other)]
        here, there = (was - now for was, now in zip(before, after, strict=True))
        assert there >= held.nbytes, f"of {held.nbytes} bytes on {other} {there} are missing there"
        if device.properties.integrated and other.properties.integrated:
            return  # both answer for the host's memory
        assert here < held.nbytes, f"{held.nbytes} bytes on {other} are missing on {device} too"

    @requires("memory_fraction", "caching_allocator", "memory_info")
    @on_two_devices
    def test_memory_fraction_caps_the_process(self, device: Device) -> None:
        """Beyond the fraction an allocation fails; with the whole device again it succeeds."""
        with (
            self._capped(device),
            pytest.raises(Exception),  # noqa: B017, PT011  (each vendor has its own)
        ):
            self.allocate(2 * self.allocation_bytes, device)
        self.allocate(2 * self.allocation_bytes, device)

    @requires("memory_fraction", "caching_allocator", "memory_info", devices=2)
    def test_memory_fraction_is_per_device(self, device: Device, other: Device) -> None:
        """A cap on one device leaves an allocation on another alone."""
        emptied(device)
        with self._capped(other):
            try:
                self.allocate(2 * self.allocation_bytes, device)
            except Exception as error:
                pytest.fail(f"with {other} capped {device} raises {type(error).__name__}: {error}")

    @requires("pin_memory")
    def test_pinned_memory_holds_the_values(self, device: Device) -> None:
        """`pin_memory` gives a page-locked host tensor of the same values."""
        found = device.pin_memory(torch.arange(64.0))
        assert found.device.type == "cpu", f"it lies on {found.device}"
        assert found.is_pinned(), "it is not page-locked"
        assert torch.equal(found, torch.arange(64.0)), "the pinned copy has other values"
        again = device.pin_memory(found)
        assert again.data_ptr() == found.data_ptr(), "pinned memory is copied once more"
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

    @contextlib.contextmanager
    def _capped(self, device: Device) -> Iterator[None]:
        """Context in which the process may take `allocation_bytes` more of the device."""
        emptied(device)
        room = device.memory_reserved() + self.allocation_bytes
        device.set_per_process_memory_fraction(room / device.mem_get_info()[1])
        try:
            yield
        finally:
            device.set_per_process_memory_fraction(1.0)

    def _slack(self, device: Device) -> int:
        emulated = device.supports("memory_stats") is Support.EMULATED
        return self.memory_slack_bytes if emulated else 0
