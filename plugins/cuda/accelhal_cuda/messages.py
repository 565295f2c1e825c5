"""What lines of programs, the loader and tools say of NVIDIA boards, for the doctor."""

from __future__ import annotations

from accelhal.spi.doctor import MessageRule

MESSAGES: tuple[MessageRule, ...] = ()
