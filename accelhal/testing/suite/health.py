"""Group: health is never better than what can be seen, and sensors are in their units."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import pytest

from accelhal.facade import Device
from accelhal.facts import BoardInfo, BoardKey, HealthReport, HealthStatus, Telemetry
from accelhal.testing.suite.base import SuiteBase
from accelhal.testing.suite.held_memory import emptied, hold
from accelhal.testing.suite.requirements import not_applicable, requires

_SEVERITY = (HealthStatus.OK, HealthStatus.UNKNOWN, HealthStatus.DEGRADED, HealthStatus.FAILED)

PLAUSIBLE: dict[str, tuple[float, float]] = {
    "temperature": (-40, 150),
    "memory_temperature": (-40, 150),
    "power": (0, 5000),
    "power_limit": (0, 5000),
    "utilization": (0, 100),
    "memory_bandwidth_utilization": (0, 100),
    "core_clock": (0, 10_000),
    "memory_clock": (0, 30_000),
}
"""Telemetry field -> range of its unit: °C, W, percent, MHz. What lies outside is another unit."""


_SENSOR_LIMIT_S = 2.0
"""How long a sensor may show what was before: drivers sample theirs."""

_A_UNIT = 100
"""No two figures of memory that far apart are in one unit: KiB are 1024 bytes, and a board is cut
into 16 slices at most."""


class Health(SuiteBase):
    """UNKNOWN is the answer where nothing is seen; a simulated fault shows at the next look."""

    def test_health_answers_for_every_device(self, devices: list[Device]) -> None:
        """`health()` returns a HealthReport with a reason where it is UNKNOWN."""
        for device in devices:
            found = device.health()
            assert type(found) is HealthReport, f"{device}: a {type(found).__name__}"
            if found.status is HealthStatus.UNKNOWN and not found.checks:
                assert found.reason, f"{device}: UNKNOWN without a reason"

    def test_telemetry_answers_for_every_device(self, devices: list[Device]) -> None:
        """`telemetry()` returns a Telemetry; each value that is None has its reason."""
        for device in devices:
            found = device.telemetry()
            assert type(found) is Telemetry, f"{device}: a {type(found).__name__}"
            if "*" in found.reasons:
                continue
            silent = [
                field.name
                for field in fields(found)
                if getattr(found, field.name) is None and field.name not in found.reasons
            ]
            assert not silent, f"{device}: no reason for {', '.join(silent)}"

    def test_health_is_unknown_without_management(self, devices: list[Device]) -> None:
        """A backend that reads no health says UNKNOWN, not OK."""
        if self.spec.open_management is not None:
            not_applicable("the backend has a management plane")
        for device in devices:
            found = device.health().status
            assert found is HealthStatus.UNKNOWN, f"{device} is {found}, and nobody looked"

    def test_management_health_does_not_raise(self) -> None:
        """Management answers health and telemetry for each of its boards without raising."""
        management = self.management
        for key in self._keys():
            try:
                management.health(key)
                management.telemetry(key)
            except Exception as error:
                pytest.fail(f"{key.value}: {type(error).__name__}: {error}")

    def test_ok_rests_on_checks(self) -> None:
        """A board is OK only where something was looked at and all of it was OK."""
        for key in self._keys():
            found = self.management.health(key)
            if found.status is HealthStatus.OK:
                assert found.checks, f"{key.value} is OK, but nothing was looked at"
            worst = max((check.status for check in found.checks), key=_SEVERITY.index, default=None)
            assert worst in (None, found.status), f"{found.status}, but a check is {worst}"

    def test_unseen_board_is_not_ok(self) -> None:
        """A board that does not exist is not OK."""
        management = self.management
        try:
            found = management.health(BoardKey(self.spec.name, "uuid", "no-such-board"))
        except Exception:
            return
        assert found.status is HealthStatus.UNKNOWN, f"no such board, but {found.status}"

    def test_boards_are_told_apart(self) -> None:
        """Every board has a key of its own."""
        keys = [board.key for board in self._boards()]
        assert None not in keys, "a board has no key"
        assert len(set(keys)) == len(keys), f"boards share keys: {keys}"

    def test_every_located_device_has_its_board(self, devices: list[Device]) -> None:
        """The board under each device is among the boards of the host."""
        known = {board.key: board for board in self._boards()}
        for device in devices:
            key = device.location.key
            if key is None:
                not_applicable(device.location.reason)
            assert key in known, f"{device} is on {key}, which management does not list"
            assert device.board is not None, f"{device}.board is None"

    def test_sensors_are_in_their_units(self) -> None:
        """Temperatures are °C, power W, utilization percent, clocks MHz, memory bytes."""
        for board in self._boards():
            assert board.key is not None, f"{board.name} has no key"
            found = self.management.telemetry(board.key)
            for name, (low, high) in PLAUSIBLE.items():
                value: Any = getattr(found, name)
                if value is not None:
                    assert low <= value <= high, f"{name} is {value}, outside {low} to {high}"
            used, total = found.memory_used, found.memory_total
            if used is not None and total is not None:
                assert 0 <= used <= total, f"{used} of {total} bytes are used"
            if total is not None and board.total_memory is not None:
                difference = abs(total - board.total_memory)
                assert difference <= total / 10, f"{total} bytes, and {board.total_memory}"

    def test_boards_tell_their_memory_in_bytes(self, devices: list[Device]) -> None:
        """A device's total memory and that of its board are figures of one unit."""
        compared = False
        for device in devices:
            known, board = device.properties.total_memory, device.board
            if known is None or board is None or board.total_memory is None:
                continue
            compared = True
            # A device may be a slice of its board.
            assert known / _A_UNIT < board.total_memory < known * _A_UNIT, (
                f"{device} has {known} bytes, its board {board.total_memory}: another unit"
            )
        if not compared:
            not_applicable("no device and its board both tell their memory")

    def test_links_lead_to_other_boards(self) -> None:
        """No link of a board leads to the board itself, and its partitions are its own."""
        management = self.management
        for key in self._keys():
            for link in management.links(key):
                assert link.peer != key, f"a {link.kind} of {key.value} leads to itself"
            for part in management.partitions(key):
                assert part.parent == key, f"{key.value} shows a partition of {part.parent}"

    def test_injected_fault_shows_at_the_next_look(self, device: Device) -> None:
        """A fault changes the health at the next look; with it gone the health is as before."""
        context = self.inject_fault(device)
        if context is None:
            not_applicable("the suite is given no way to make a board sick")
        before = device.health().status
        with context:
            found = device.health().status
            assert found in (HealthStatus.DEGRADED, HealthStatus.FAILED), f"sick, but {found}"
        assert device.health().status is before, "sick although the fault is gone"

    @requires(devices=2)
    def test_injected_fault_is_one_board_s(self, device: Device, other: Device) -> None:
        """A fault changes the health of its board, and not another's."""
        context = self.inject_fault(other)
        if context is None:
            not_applicable("the suite is given no way to make a board sick")
        before = device.health().status
        with context:
            found = other.health().status
            assert found in (HealthStatus.DEGRADED, HealthStatus.FAILED), f"{other} is {found}"
            found = device.health().status
            assert found is before, f"{other} is sick, and {device} is {found}"

    @requires(devices=2)
    def test_telemetry_is_of_the_board_asked_for(self, device: Device, other: Device) -> None:
        """Memory taken on one device shows in the telemetry of its board, and not of another."""
        for each in (device, other):
            emptied(each)
        before = [self._memory_used(each) for each in (device, other)]
        held = hold(self, other)
        limit = time.monotonic() + _SENSOR_LIMIT_S
        there = self._memory_used(other) - before[1]
        while there < held.nbytes and time.monotonic() < limit:
            time.sleep(_SENSOR_LIMIT_S / 20)
            there = self._memory_used(other) - before[1]
        here = self._memory_used(device) - before[0]
        assert there >= held.nbytes, f"{held.nbytes} bytes on {other} raise memory_used by {there}"
        assert here < held.nbytes, f"{held.nbytes} bytes on {other} show at {device} too"

    def _memory_used(self, device: Device) -> int:
        found = device.telemetry()
        if found.memory_used is None:
            reasons = found.reasons
            not_applicable(reasons.get("memory_used", reasons.get("*", "no memory is reported")))
        return found.memory_used

    def _boards(self) -> Sequence[BoardInfo]:
        return self.management.boards()

    def _keys(self) -> list[BoardKey]:
        return [board.key for board in self._boards() if board.key is not None]
