"""The variables that hide boards, which probe, runtime and management share."""

from __future__ import annotations

from accelhal.host.visible_devices import IdentifierList, VisibleDevices

# A value with a dash and at least 36 characters, the length of a UUID, is a list of UUIDs.
_UUIDS = (IdentifierList(value=r"(?=.*-).{36}", entry=r".*-"),)

VISIBLE_DEVICES = tuple(
    VisibleDevices(variable, identifiers=_UUIDS)
    for variable in ("CN_VISIBLE_DEVICES", "MLU_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
)
