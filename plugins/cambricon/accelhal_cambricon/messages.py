"""What lines of programs, the loader and tools say of Cambricon boards, for the doctor."""

from __future__ import annotations

from accelhal.spi.doctor import MessageRule
from accelhal_cambricon import device_messages, driver_messages

MESSAGES: tuple[MessageRule, ...] = (*driver_messages.MESSAGES, *device_messages.MESSAGES)
