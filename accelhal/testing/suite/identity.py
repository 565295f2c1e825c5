"""Group: which devices there are, and which board is under each."""

from __future__ import annotations

import threading

import pytest
import torch

import accelhal
from accelhal.errors import DeviceNotFoundError
from accelhal.facade import Device
from accelhal.testing.suite.base import SuiteBase
from accelhal.testing.suite.requirements import not_applicable, requires

_THREAD_LIMIT_S = 60.0


class Identity(SuiteBase):
    """Names, indices and board keys lead to the same device, here and in other processes."""

    def test_every_counted_device_computes(self, devices: list[Device]) -> None:
        """Every device that is counted holds a tensor and computes with it."""
        for device in devices:
            try:
                found = self.get(self.put(torch.arange(4.0), device) * 2)
            except Exception as error:
                pytest.fail(f"{device} is counted, but {type(error).__name__}: {error}")
            assert found.tolist() == [0.0, 2.0, 4.0, 6.0], f"{device}: {found.tolist()}"

    def test_every_counted_device_computes_in_a_new_thread(self, devices: list[Device]) -> None:
        """A thread that never touched a device computes on it and waits for it."""
        for device in devices:
            found: list[object] = []
            thread = threading.Thread(
                target=lambda: found.append(self._doubled(device)),  # noqa: B023  (it is joined)
                daemon=True,
            )
            thread.start()
            thread.join(_THREAD_LIMIT_S)
            wanted = [[0.0, 2.0, 4.0, 6.0]]
            assert found == wanted, f"{device} in a new thread: {found or 'it does not end'}"

    def _doubled(self, device: Device) -> object:
        """What doubling 0 to 3 gives, or the error that it raises."""
        try:
            with self.working():
                doubled = self.put(torch.arange(4.0), device) * 2
                device.synchronize()
                return self.get(doubled).tolist()
        except Exception as error:
            return error

    def test_runtime_counts_what_torch_counts(self, devices: list[Device]) -> None:
        """The runtime counts as many devices as torch's own module of that type."""
        kind = devices[0].torch_device.type
        if kind == "cpu":
            not_applicable("its tensors are torch's cpu tensors")
        counted = torch.get_device_module(kind).device_count()
        assert len(devices) == counted, f"{len(devices)} devices, torch counts {counted}"

    def test_tensors_carry_the_device_s_name(self, devices: list[Device]) -> None:
        """A tensor made on the device carries its torch_device."""
        for device in devices:
            found = self.put(torch.ones(1), device).device
            assert found == device.torch_device, f"tensors of {device} are on {found}"

    def test_torch_device_round_trips(self, devices: list[Device]) -> None:
        """Name and torch.device of a device lead back to it; its index is explicit."""
        for device in devices:
            assert accelhal.device(str(device)) == device, f"the name {device} leads elsewhere"
            if device.torch_device.type == device.backend:
                index = device.torch_device.index or 0
                assert index == device.index, f"{device} is torch's {device.torch_device}"
                found = accelhal.device(device.torch_device)
                assert found.index == index, f"{device.torch_device} leads to {found}"

    def test_index_out_of_range_is_refused(self, devices: list[Device]) -> None:
        """An index beyond the count raises DeviceNotFoundError."""
        with pytest.raises(DeviceNotFoundError):
            accelhal.device(f"{self.backend}:{len(devices)}")

    def test_properties_do_not_change(self, devices: list[Device]) -> None:
        """A device tells the same properties and location each time it is asked."""
        for device in devices:
            assert device.properties == device.properties, f"{device} changes its properties"
            assert device.location == device.location, f"{device} changes its location"

    def test_properties_name_the_device(self, devices: list[Device]) -> None:
        """Properties name product and vendor, and are simulated exactly where the spec is."""
        for device in devices:
            found = device.properties
            for name in ("name", "vendor"):
                assert getattr(found, name).strip(), f"{device}: properties.{name} is empty"
            assert found.simulated is self.spec.simulated, (
                f"{device}: properties.simulated is {found.simulated}, "
                f"the spec's is {self.spec.simulated}"
            )

    def test_location_is_a_key_or_a_reason(self, devices: list[Device]) -> None:
        """Where the board cannot be told the location gives the reason."""
        for device in devices:
            location = device.location
            if location.key is None:
                assert location.reason, f"{device} has neither a board key nor a reason"
            else:
                assert location.key.backend == device.backend, f"{device}: {location.key}"

    def test_uuid_key_is_the_device_s_uuid(self, devices: list[Device]) -> None:
        """A location by UUID holds the UUID that the properties show."""
        keys = [device.location.key for device in devices]
        if not any(key is not None and key.source == "uuid" for key in keys):
            not_applicable("no device is located by a UUID")
        for device, key in zip(devices, keys, strict=True):
            if key is not None and key.source == "uuid":
                assert key.value == device.properties.uuid, f"{device}: {key.value}"

    @requires(devices=2)
    def test_uuids_differ(self, devices: list[Device]) -> None:
        """No two devices show one UUID in their properties."""
        uuids = [device.properties.uuid for device in devices]
        known = [uuid for uuid in uuids if uuid is not None]
        if not known:
            not_applicable("no device shows a UUID")
        assert len(set(known)) == len(known), f"devices share a UUID: {uuids}"

    @requires(devices=2)
    def test_boards_differ(self, devices: list[Device]) -> None:
        """No two devices have one board key."""
        keys = [device.location.key for device in devices if device.location.key is not None]
        if not keys:
            not_applicable(devices[0].location.reason)
        assert len(set(keys)) == len(keys), f"devices share a board: {keys}"

    def test_board_keys_are_stable_across_processes(self, devices: list[Device]) -> None:
        """Another process finds the same key for each device."""
        keys = [device.location.key for device in devices]
        if not any(keys):
            not_applicable(devices[0].location.reason)
        here = [None if key is None else [key.source, key.value] for key in keys]
        there = [found["key"] for found in self.run_child("identify", backend=self.backend)]
        assert there == here, f"another process sees {there}, this one {here}"
