"""The doctor's checks that only hosts with Ascend boards need."""

from __future__ import annotations

from accelhal.spi.doctor import DoctorRules

RULES = DoctorRules(checks=())
