"""Every sentence the doctor says, by code, so that a translation replaces these tables."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.doctor.texts import (
    backends,
    container,
    devices,
    driver,
    engine,
    environment,
    framework,
    hardware,
    hardware_faults,
    host,
    memory,
    performance_measure,
    performance_watch,
    plugins,
    sensors,
    topology,
)
from accelhal.spi.doctor import Text

TEXTS: Mapping[str, Text] = {
    **engine.TEXTS,
    **host.TEXTS,
    **plugins.TEXTS,
    **hardware.TEXTS,
    **hardware_faults.TEXTS,
    **sensors.TEXTS,
    **container.TEXTS,
    **driver.TEXTS,
    **devices.TEXTS,
    **environment.TEXTS,
    **backends.TEXTS,
    **framework.TEXTS,
    **topology.TEXTS,
    **memory.TEXTS,
    **performance_measure.TEXTS,
    **performance_watch.TEXTS,
}
