"""Group: forked, spawned and unpickled, a device stays the same or says that it cannot."""

from __future__ import annotations

import pickle

import pytest

from accelhal.errors import AccelhalError, ErrorKind
from accelhal.facade import Device
from accelhal.testing.suite.base import SuiteBase
from accelhal.testing.suite.requirements import requires


class Processes(SuiteBase):
    """Every rule that forks or spawns does so in a child process with a limit."""

    def test_fork_is_safe_until_first_use(self) -> None:
        """A process that imported accelhal and torch and then forked uses the device in both."""
        found = self.run_child("fork", backend=self.backend, use_first=False)
        assert found["computes"], f"the forked child cannot use the device: {found}"
        assert found["parent_computes"], "the parent can no longer use the device"

    def test_fork_after_use_works_or_says_so(self) -> None:
        """After use a forked child works, or gets an error that is called BAD_FORK."""
        found = self.run_child("fork", backend=self.backend, use_first=True)
        said = found["kind"] == ErrorKind.BAD_FORK.label
        assert found["computes"] or said, f"the forked child got {found}"
        assert found["parent_computes"], "the parent can no longer use the device"

    def test_spawned_process_uses_the_device(self) -> None:
        """A spawned process is handed a Device, finds it again and computes on it."""
        found = self.run_child("spawn", backend=self.backend, setup=self.child_setup)
        assert found["exit_code"] == 0, f"the spawned process ended with {found['exit_code']}"
        assert found["key"] == found["sent"]["key"], f"it was handed another board: {found}"
        assert found["computes"], "the spawned process computes wrongly"

    def test_devices_unpickle_to_themselves(self, devices: list[Device]) -> None:
        """In one process a pickled Device is the same device again."""
        for device in devices:
            pickled = pickle.dumps(device)
            try:
                found = pickle.loads(pickled)
            except AccelhalError as error:
                pytest.fail(f"{device} does not unpickle: {error}")
            assert found == device, f"{device} unpickles to {found}"

    @requires(devices=2)
    def test_pickled_device_finds_its_board_elsewhere(self, devices: list[Device]) -> None:
        """Another process unpickles a Device to the same board."""
        device = devices[-1]
        key = device.location.key
        found = self.run_child("unpickle", backend=self.backend, pickled=pickle.dumps(device).hex())
        assert found["key"] == (None if key is None else [key.source, key.value]), (
            f"{device} on {key} became {found}"
        )
        assert found["computes"], "the device computes wrongly there"
