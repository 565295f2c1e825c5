"""What lines of programs, the loader and tools say of Ascend boards, for the doctor."""

from __future__ import annotations

from accelhal.spi.doctor import MessageRule
from accelhal_ascend import device_messages, driver_messages, hccl_rule, operator_package_rule

MESSAGES: tuple[MessageRule, ...] = (
    *driver_messages.MESSAGES,
    *device_messages.MESSAGES,
    *operator_package_rule.MESSAGES,
    *hccl_rule.MESSAGES,
)
