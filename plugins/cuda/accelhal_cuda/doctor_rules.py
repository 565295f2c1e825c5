"""The doctor's checks that only hosts with NVIDIA boards need."""

from __future__ import annotations

from accelhal.spi.doctor import DoctorRules
from accelhal_cuda import peer_memory_rule

RULES = DoctorRules(
    checks=(peer_memory_rule.PEER_MEMORY,),
    texts={**peer_memory_rule.TEXTS},
)
