"""What a host with Ascend boards looks like to the doctor."""

from __future__ import annotations

from accelhal.spi.doctor import VendorHost
from accelhal_ascend.messages import MESSAGES

HOST = VendorHost(messages=MESSAGES)
