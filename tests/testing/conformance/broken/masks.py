"""Visible devices: a backend that honours its variable, and one that does not."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar

from accelhal_mock.runtime import PythonRuntime
from accelhal_mock.spec import SPEC
from testing.conformance.broken.backend import OnBrokenBackend

from accelhal.facts import DeviceProperties, Location, Probe, ProbeStatus
from accelhal.host import Host
from accelhal.host.visible_devices import IdentifierList, VisibleDevices, active_mask

UUID = "[0-9a-f]{8}-"
VARIABLE = VisibleDevices("MOCK_VISIBLE_DEVICES", (IdentifierList(UUID, UUID),))


def probe(host: Host) -> Probe:
    """The mock's probe, with an eye for the variable."""
    mask = active_mask((VARIABLE,), host.environ)
    if mask is not None and not mask.entries:
        reason = f"{VARIABLE.variable} hides every board"
        return Probe(ProbeStatus.HIDDEN_BY_ENV, 0, reason, f"unset {VARIABLE.variable}")
    return SPEC.probe(host)


class MaskedRuntime(PythonRuntime):
    """Boards in the order of the variable; their tensors are of no concern here."""

    def boards(self) -> list[int]:
        everything = list(range(super().device_count()))
        mask = active_mask((VARIABLE,), os.environ)
        if mask is None:
            return everything
        ids = {super(MaskedRuntime, self).properties(i).uuid: i for i in everything}
        ids |= {str(index): index for index in everything}
        return [ids[entry] for entry in mask.entries]

    def device_count(self) -> int:
        return len(self.boards())

    def properties(self, index: int) -> DeviceProperties:
        return super().properties(self.boards()[index])

    def locate(self, index: int) -> Location:
        return super().locate(self.boards()[index])


class MaskIsHonoured(OnBrokenBackend):
    """Nothing is broken: the variable acts as the spec's grammar says."""

    spec_changes: ClassVar[Mapping[str, Any]] = {"visible_devices": (VARIABLE,), "probe": probe}
    child_setup = (
        "from testing.conformance.broken.masks import MaskIsHonoured\nMaskIsHonoured.register()\n"
    )
    tasks = frozenset({"count"})
    Runtime = MaskedRuntime


class MaskIsReadInDriverOrder(OnBrokenBackend):
    """The variable hides devices, and does not order them; the probe does not look at it."""

    spec_changes: ClassVar[Mapping[str, Any]] = {"visible_devices": (VARIABLE,)}
    child_setup = (
        "from testing.conformance.broken.masks import MaskIsReadInDriverOrder as Broken\n"
        "Broken.register()\n"
    )
    tasks = frozenset({"count"})
    fails = frozenset(
        {
            "ids_show_devices_in_the_spec_s_order",
            "uuids_show_devices",
            "probe_says_that_devices_are_hidden",
        }
    )

    class Runtime(MaskedRuntime):
        def boards(self) -> list[int]:
            return sorted(super().boards())
