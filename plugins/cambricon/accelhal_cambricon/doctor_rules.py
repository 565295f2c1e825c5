"""The doctor's checks that only hosts with Cambricon boards need."""

from __future__ import annotations

from accelhal.spi.doctor import DoctorRules
from accelhal_cambricon import device_messages, driver_messages

RULES = DoctorRules(checks=(), texts={**driver_messages.TEXTS, **device_messages.TEXTS})
