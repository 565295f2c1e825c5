"""The backends: what each one's probe says of this host."""

from __future__ import annotations

from collections.abc import Iterator

from accelhal.doctor.facts import Facts
from accelhal.doctor.hardware import impact, is_present
from accelhal.evidence.environment import BusBoard, ListedBackend
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
    if not facts.live:
        for listed in facts.listed:
            yield _as_listed(listed, facts)
        return
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


def _as_listed(listed: ListedBackend, facts: Facts) -> Finding:
    """What the probe said there; how grave it is, the boards that the evidence shows decide."""
    present = bool(facts.readings(listed.name)) or any(
        board.backend == listed.name for board in _bus(facts)
    )
    if listed.status is ProbeStatus.AVAILABLE:
        state = FindingState.OK
    elif listed.status in DEFECTS or listed.status is ProbeStatus.NO_DRIVER:
        state = FindingState.FAIL if present else FindingState.WARN
    else:
        state = FindingState.INFO
    if listed.status is ProbeStatus.NO_DRIVER and not present:
        state = FindingState.INFO
    return Finding(
        "backend.probe",
        _CODES[listed.status],
        state,
        {"reason": listed.reason, "count": listed.count or 0},
        listed.name,
        listed.evidence,
        commands=("accelhal doctor --deep  # on that host",) if state in _LOUD else (),
    )


_LOUD = (FindingState.WARN, FindingState.FAIL)


def _bus(facts: Facts) -> tuple[BusBoard, ...]:
    environment = facts.snapshot.environment
    return () if environment is None else environment.boards


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
    depends_on=(
        "plugin.load",
        "driver.nodes",
        "device.mask",
        "framework.build",
        "framework.libpath",
    ),
    explanation="Each plugin's own look at the host: packages, nodes, libraries, variables. "
    "Nothing is imported or opened. What it finds missing is a failure where the backend's boards "
    "are here or ACCELHAL_DEVICE names it, and an info where nothing needs it.",
)
