"""The backends: what each one's probe says of this host."""

from __future__ import annotations

from collections.abc import Iterator

from accelhal.doctor.facts import Facts
from accelhal.doctor.hardware import has_boards, impact
from accelhal.evidence.environment import ListedBackend, listed
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
        yield from (_as_listed(backend, facts) for backend in facts.listed)
        return
    for backend in facts.backends:
        probe = backend.probe
        shown = listed(backend)
        state = _state(shown, backend, facts)
        commands = (probe.hint,) if probe.hint and state is not FindingState.OK else ()
        yield _finding(shown, state, commands)


def _as_listed(shown: ListedBackend, facts: Facts) -> Finding:
    """What the probe said there; how grave it is, the boards that the evidence shows decide."""
    state = _state(shown, shown, facts)
    return _finding(shown, state, _THERE if state in _LOUD else ())


_LOUD = (FindingState.WARN, FindingState.FAIL)
_THERE = ("accelhal doctor --deep  # on that host",)


def _finding(shown: ListedBackend, state: FindingState, commands: tuple[str, ...]) -> Finding:
    params: dict[str, str | int] = {"reason": shown.reason}
    if shown.count is not None:
        params["count"] = shown.count
    simulated = shown.simulated and shown.status is ProbeStatus.AVAILABLE
    return Finding(
        "backend.probe",
        "probe.simulated" if simulated else _CODES[shown.status],
        state,
        params,
        device=shown.name,
        evidence=shown.evidence,
        commands=commands,
    )


def _state(shown: ListedBackend, backend: Backend | ListedBackend, facts: Facts) -> FindingState:
    if shown.status is ProbeStatus.AVAILABLE:
        return FindingState.OK
    if shown.status is ProbeStatus.DISABLED:
        return FindingState.INFO
    if shown.status is ProbeStatus.NO_HARDWARE and has_boards(backend, facts):
        # The bus shows a board that the probe does not count: passed through, or of another kind.
        return FindingState.WARN
    graver = impact(backend, facts)
    if graver is FindingState.FAIL or shown.status in DEFECTS:
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
