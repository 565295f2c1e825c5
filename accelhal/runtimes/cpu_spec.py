"""The built-in cpu backend's spec; it needs neither torch nor a plugin to be read."""

from __future__ import annotations

from accelhal.facts import Probe, ProbeStatus
from accelhal.host import Host
from accelhal.host.system import cpu_model
from accelhal.runtimes.torch_loading import INSTALL_TORCH
from accelhal.spi import API_VERSION, BackendSpec, Runtime


def _probe(host: Host) -> Probe:
    if host.find_package("torch") is None:
        return Probe(ProbeStatus.NOT_INSTALLED, 1, "torch is not installed", INSTALL_TORCH)
    return Probe(ProbeStatus.AVAILABLE, 1, cpu_model(host) or "processor")


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
