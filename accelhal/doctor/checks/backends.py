"""The backends: what each one's probe says of this host."""

from __future__ import annotations

from collections.abc import Iterator

from accelhal.doctor.facts import Facts
from accelhal.doctor.hardware import impact, is_present
from accelhal.facts import DEFECTS, Finding, FindingState, ProbeStatus
from accelhal.registry.listing import Backend
from accelhal.spi.doctor import Check

_CODES = {
    ProbeStatus.AVAILABLE: "probe.available",
    ProbeStatus.NO_HARDWARE: "probe.no_hardware",
    ProbeStatus.NO_DRIVER: "probe.no_driver",
    ProbeStatus.NOT_INSTALLED: "probe.not_installed",
    ProbeStatus.LIBRARY_BROKEN: "probe.library_broken",
    ProbeStatus.INCOMPATIBLE: "probe.incompatible",
    ProbeStatus.HIDDEN_BY_ENV: "probe.hidden_by_env",
    ProbeStatus.DISABLED: "probe.disabled",
}


def _probes(facts: Facts) -> Iterator[Finding]:
    for backend in facts.backends:
        probe = backend.probe
        params: dict[str, str | int] = {"reason": probe.reason}
        if probe.count is not None:
            params["count"] = probe.count
        state = _state(backend, facts)
        yield Finding(
            "backend.probe",
            _code(backend),
            state,
            params,
            device=backend.name,
            evidence=probe.evidence,
            commands=(probe.hint,) if probe.hint and state is not FindingState.OK else (),
        )


def _code(backend: Backend) -> str:
    status = backend.probe.status
    if status is ProbeStatus.AVAILABLE and backend.spec is not None and backend.spec.simulated:
        return "probe.simulated"
    return _CODES[status]


def _state(backend: Backend, facts: Facts) -> FindingState:
    status = backend.probe.status
    if status is ProbeStatus.AVAILABLE:
        return FindingState.OK
    if status is ProbeStatus.DISABLED:
        return FindingState.INFO
    graver = impact(backend, facts)
    present = backend.spec is not None and is_present(backend.spec, facts)
    if status is ProbeStatus.NO_HARDWARE and present:
        # The bus shows a board that the probe does not count: passed through, or of another kind.
        return FindingState.WARN
    if graver is FindingState.FAIL or status in DEFECTS:
        return graver
    return FindingState.INFO


PROBE = Check(
    "backend.probe",
    "Backends",
    "whether each backend can be used here, and if not, why",
    ("the plugins' probes: environment, /dev, PCI bus, installed packages",),
    _probes,
    depends_on=("plugin.load", "driver.nodes", "device.mask"),
)
