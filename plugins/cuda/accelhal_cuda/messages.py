"""What lines of programs, the loader and tools say of NVIDIA boards, for the doctor."""

from __future__ import annotations

from accelhal.spi.doctor import MessageRule
from accelhal_cuda import device_messages, driver_messages, fabric_rule, hardware_messages

MESSAGES: tuple[MessageRule, ...] = (
    *driver_messages.MESSAGES,
    *device_messages.MESSAGES,
    *fabric_rule.MESSAGES,
    *hardware_messages.MESSAGES,
)
