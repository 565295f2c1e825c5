"""The doctor's checks that only hosts with Ascend boards need."""

from __future__ import annotations

from accelhal.spi.doctor import DoctorRules
from accelhal_ascend import device_messages, driver_messages, hccl_rule, operator_package_rule

RULES = DoctorRules(
    checks=(
        operator_package_rule.OPERATORS,
        hccl_rule.PORTS,
    ),
    texts={
        **operator_package_rule.TEXTS,
        **device_messages.TEXTS,
        **driver_messages.TEXTS,
        **hccl_rule.TEXTS,
    },
)
