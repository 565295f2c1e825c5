"""Group: each device has a generator of its own, and its state is all there is to it."""

from __future__ import annotations

import torch

from accelhal.facade import Device
from accelhal.testing.suite.base import SuiteBase
from accelhal.testing.suite.requirements import not_applicable, on_two_devices, requires


class RandomNumbers(SuiteBase):
    """Seeds and states are exact: equal ones give equal numbers."""

    def test_same_seed_gives_the_same_numbers(self, devices: list[Device]) -> None:
        """The same seed gives a device the same numbers, and another seed others."""
        for device in devices:
            first, again, others = (self._draw(device, seed) for seed in (1234, 1234, 1235))
            assert torch.equal(first, again), f"{device}: one seed, two sequences"
            assert not torch.equal(first, others), f"{device}: two seeds, one sequence"

    @on_two_devices
    def test_state_round_trips(self, device: Device) -> None:
        """A state put back gives the numbers that followed it."""
        device.manual_seed(99)
        self._numbers(device)
        state = device.get_rng_state()
        first = self._numbers(device)
        device.set_rng_state(state)
        assert torch.equal(self._numbers(device), first), "the restored state gives other numbers"

    @on_two_devices
    def test_drawing_moves_the_state(self, device: Device) -> None:
        """Drawing numbers changes the state; looking at it does not."""
        before = device.get_rng_state()
        assert torch.equal(device.get_rng_state(), before), "looking changes the state"
        self._numbers(device)
        assert not torch.equal(device.get_rng_state(), before), "drawing does not change the state"

    def test_state_is_a_copy(self, device: Device) -> None:
        """A state that was taken does not change with the generator."""
        state = device.get_rng_state()
        before = state.clone()
        self._numbers(device)
        assert torch.equal(state, before), "the state changes under the holder's hand"

    def test_largest_seeds_are_taken(self, device: Device) -> None:
        """Seeds at the ends of torch's range are taken."""
        for seed in (-(2**63), 0, 2**64 - 1):
            device.manual_seed(seed)

    def test_torch_manual_seed_reaches_the_device(self, devices: list[Device]) -> None:
        """torch.manual_seed seeds every device of the backend."""
        drawn = []
        for _ in range(2):
            torch.manual_seed(4321)
            drawn.append([self._numbers(device) for device in devices])
        for device, first, again in zip(devices, *drawn, strict=True):
            assert torch.equal(first, again), f"torch.manual_seed does not seed {device}"

    @requires(devices=2)
    def test_generators_are_per_device(self, device: Device, other: Device) -> None:
        """Seeding, drawing or restoring on one device leaves another's generator alone."""
        if device.torch_device == other.torch_device:
            not_applicable(f"both devices are torch's {device.torch_device}, with its generator")
        before = device.get_rng_state()
        other.manual_seed(7)
        assert torch.equal(device.get_rng_state(), before), f"seeding {other} changes {device}"
        self._numbers(other)
        assert torch.equal(device.get_rng_state(), before), f"drawing on {other} changes {device}"
        other.set_rng_state(other.get_rng_state())
        assert torch.equal(device.get_rng_state(), before), f"restoring {other} changes {device}"

    @requires(devices=2)
    def test_same_seed_gives_the_same_numbers_on_equal_devices(
        self, device: Device, other: Device
    ) -> None:
        """Two devices of one product give the same numbers for one seed."""
        if device.properties.name != other.properties.name:
            not_applicable(f"{device} and {other} are different products")
        assert torch.equal(self._draw(device, 5), self._draw(other, 5)), (
            f"one seed gives {device} and {other} different numbers"
        )

    def _draw(self, device: Device, seed: int) -> torch.Tensor:
        device.manual_seed(seed)
        return self._numbers(device)

    def _numbers(self, device: Device) -> torch.Tensor:
        found = torch.rand(64, device=device.torch_device)
        return found.cpu()
