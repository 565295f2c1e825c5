"""The built-in cpu backend's spec; it needs neither torch nor a plugin to be read."""

from __future__ import annotations

from accelhal.facts import Probe, ProbeStatus
from accelhal.host import Host
from accelhal.host.system import cpu_model
from accelhal.spi import API_VERSION, BackendSpec, Runtime


def _probe(host: Host) -> Probe:
    model = cpu_model(host) or "processor"
    return Probe(ProbeStatus.AVAILABLE, 1, f"always there: {model}")


def _open_runtime() -> Runtime:
    from accelhal.runtimes.cpu import CpuRuntime

    return CpuRuntime()


SPEC = BackendSpec(
    name="cpu",
    vendor="host",
    api_version=API_VERSION,
    priority=0,
    probe=_probe,
    open_runtime=_open_runtime,
    distributed_backend="gloo",
)
