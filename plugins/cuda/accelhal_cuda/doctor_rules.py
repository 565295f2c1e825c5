"""The doctor's checks that only hosts with NVIDIA boards need."""

from __future__ import annotations

from accelhal.spi.doctor import DoctorRules
from accelhal_cuda import (
    compat_library_rule,
    device_messages,
    driver_messages,
    fabric_rule,
    hardware_messages,
    mps_rule,
    peer_memory_rule,
    persistence_rule,
)

RULES = DoctorRules(
    checks=(
        persistence_rule.PERSISTENCE,
        mps_rule.MPS,
        peer_memory_rule.PEER_MEMORY,
        fabric_rule.FABRIC,
        hardware_messages.LICENSE,
    ),
    texts={
        **compat_library_rule.TEXTS,
        **driver_messages.TEXTS,
        **persistence_rule.TEXTS,
        **mps_rule.TEXTS,
        **device_messages.TEXTS,
        **peer_memory_rule.TEXTS,
        **fabric_rule.TEXTS,
        **hardware_messages.TEXTS,
    },
)
