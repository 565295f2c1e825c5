"""Every sentence the doctor says, by code, so that a translation replaces these tables."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.doctor.texts import (
    backends,
    devices,
    driver,
    engine,
    environment,
    framework,
    host,
    plugins,
    topology,
)
from accelhal.spi.doctor import Text

TEXTS: Mapping[str, Text] = {
    **engine.TEXTS,
    **host.TEXTS,
    **plugins.TEXTS,
    **driver.TEXTS,
    **devices.TEXTS,
    **environment.TEXTS,
    **backends.TEXTS,
    **framework.TEXTS,
    **topology.TEXTS,
}
