"""Group: the visible-devices variable hides and orders devices as the spec describes it."""

from __future__ import annotations

import os
from typing import Any

from accelhal.facts import ProbeStatus
from accelhal.host import Host
from accelhal.host.visible_devices import VisibleDevices, active_mask
from accelhal.testing.suite.base import SuiteBase
from accelhal.testing.suite.requirements import check_board_seen, not_applicable, requires

_seen: dict[tuple[type, str | None], dict[str, Any]] = {}
"""Suite and value of the variable -> what a child process saw."""


class Visibility(SuiteBase):
    """Each rule sets the variable for a child process, which counts and names its devices."""

    def test_one_id_shows_one_device(self) -> None:
        """An integer shows that device alone, as index 0."""
        first = self._ids()[0]
        self._check([first])

    @requires(devices=2)
    def test_ids_show_devices_in_the_spec_s_order(self) -> None:
        """Integers in reverse order show the devices as the spec's grammar says."""
        self._check(list(reversed(self._ids())))

    @requires(devices=2)
    def test_uuids_show_devices(self) -> None:
        """UUIDs, where the grammar has them, show their devices in the order given."""
        variable = self._variable()
        if not variable.identifiers:
            not_applicable(f"{variable.variable} takes no UUIDs")
        uuids = [found["uuid"] for found in reversed(self._shown(None)["devices"])]
        if None in uuids:
            not_applicable("the devices report no UUID")
        found = self._shown(",".join(uuids))["devices"]
        assert [each["uuid"] for each in found] == uuids, f"{uuids} show {found}"

    def test_empty_value_hides_every_device(self) -> None:
        """An empty value leaves no device; opening says that the variable hides them."""
        variable = self._variable()
        found = self._shown("")
        assert not found["devices"], f"{variable.variable}='' shows {found['devices']}"
        assert found["error"] is not None, "opening succeeds without a device"
        assert variable.variable in found["message"], f"it is not named: {found['message']}"

    def test_probe_says_that_devices_are_hidden(self) -> None:
        """With an empty value the probe answers HIDDEN_BY_ENV and names the variable."""
        variable = self._variable().variable
        check_board_seen(self.spec)
        found = self.spec.probe(Host(environ={**os.environ, variable: ""}))
        assert found.status is ProbeStatus.HIDDEN_BY_ENV, f"it answers {found.status.value}"
        assert variable in f"{found.reason} {found.hint}", f"it does not name {variable}"

    def test_probe_survives_a_senseless_value(self) -> None:
        """A probe does not raise whatever the variable holds."""
        variable = self._variable().variable
        for value in (",,", "-1", "all", "0,0", "\udcff", "9" * 400, "GPU-", "0;1"):
            found = self.spec.probe(Host(environ={**os.environ, variable: value}))
            assert isinstance(found.status, ProbeStatus), f"{value!r}: {found}"

    def test_repeated_id_hides_every_device(self) -> None:
        """A repeated id shows what the spec's grammar says of it: no device."""
        first = self._ids()[0]
        self._check([first, first])

    def _variable(self) -> VisibleDevices:
        if not self.spec.visible_devices:
            not_applicable("no variable hides its devices")
        return self.spec.visible_devices[0]

    def _ids(self) -> list[str]:
        """Ids that this process may name: those of its own mask, or all."""
        self._variable()
        mask = active_mask(self.spec.visible_devices, os.environ)
        if mask is not None:
            return list(mask.entries)
        return [str(index) for index in range(self.runtime.device_count())]

    def _shown(self, value: str | None) -> dict[str, Any]:
        """What a child process sees with the variable so; None leaves it as it is."""
        key = (type(self), value)
        if key not in _seen:
            environ = {} if value is None else {self._variable().variable: value}
            _seen[key] = self.run_child("count", environ=environ, backend=self.backend)
        return _seen[key]

    def _check(self, ids: list[str]) -> None:
        """Compare what a child sees with what the spec's grammar says it should."""
        known = dict(zip(self._ids(), self._shown(None)["devices"], strict=True))
        value = ",".join(ids)
        wanted = [known[entry]["key"] for entry in self._variable().parse(value).entries]
        found = [each["key"] for each in self._shown(value)["devices"]]
        what = f"{self._variable().variable}={value}"
        assert len(found) == len(wanted), f"{what} shows {len(found)} devices, not {len(wanted)}"
        located = [(one, other) for one, other in zip(found, wanted, strict=True) if one and other]
        # A key by visible order is relative to the mask itself.
        if all(one[0] != "visible-order" for one, _ in located):
            assert found == wanted, f"{what} shows {found}, not {wanted}"
