"""What a host with Cambricon boards looks like to the doctor."""

from __future__ import annotations

from accelhal.spi.doctor import VendorHost
from accelhal_cambricon.messages import MESSAGES

HOST = VendorHost(messages=MESSAGES)
