"""What a host with NVIDIA boards looks like to the doctor."""

from __future__ import annotations

from accelhal.spi.doctor import VendorHost
from accelhal_cuda.messages import MESSAGES

HOST = VendorHost(messages=MESSAGES)
