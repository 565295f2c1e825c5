"""What the doctor says where there is nothing to judge."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.spi.doctor import Text

TEXTS: Mapping[str, Text] = {
    "hardware.absent": Text("no board here that needs a driver"),
}
