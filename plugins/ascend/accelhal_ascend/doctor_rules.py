"""The doctor's checks that only hosts with Ascend boards need."""

from __future__ import annotations

from accelhal.spi.doctor import DoctorRules
from accelhal_ascend import hccl_rule

RULES = DoctorRules(
    checks=(hccl_rule.PORTS,),
    texts={**hccl_rule.TEXTS},
)
