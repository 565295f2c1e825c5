"""A backend described in one line: what tests register in the place of an installed plugin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from accelhal.facts import Probe, ProbeStatus
from accelhal.runtimes.cpu import CpuRuntime
from accelhal.spi import API_VERSION, BackendSpec, Runtime


def fake_spec(
    name: str = "fake",
    open_runtime: Callable[[], Runtime] = CpuRuntime,
    *,
    status: ProbeStatus = ProbeStatus.AVAILABLE,
    count: int = 1,
    **fields: Any,
) -> BackendSpec:
    """Its probe answers `status` and `count`; `fields` are BackendSpec's."""
    defaults = {"vendor": "Fake Works", "api_version": API_VERSION, "priority": 50}
    return BackendSpec(
        name=name,
        probe=lambda host: Probe(status, count, f"{name} is {status.value}", "plug it in"),
        open_runtime=open_runtime,
        **{**defaults, **fields},
    )
