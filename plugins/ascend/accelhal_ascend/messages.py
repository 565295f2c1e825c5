"""What lines of programs, the loader and tools say of Ascend boards, for the doctor."""

from __future__ import annotations

from accelhal.spi.doctor import MessageRule
from accelhal_ascend import hccl_rule

MESSAGES: tuple[MessageRule, ...] = (*hccl_rule.MESSAGES,)
