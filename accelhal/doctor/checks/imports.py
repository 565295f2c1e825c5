"""The deep look: does each package import, and how many devices does torch then see."""

from __future__ import annotations

from collections.abc import Iterator

from accelhal.doctor.facts import Facts
from accelhal.doctor.hardware import board_nodes, boards_of, impact, is_present
from accelhal.doctor.imports import ImportOutcome, ImportReport
from accelhal.facts import Finding, FindingState, ProbeStatus
from accelhal.host.torch_install import AUTOLOAD_VARIABLE
from accelhal.registry.listing import Backend
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check, Cost

_ID = "framework.sees"

_CODES = {
    ImportOutcome.RAISED: "sees.raised",
    ImportOutcome.KILLED: "sees.killed",
    ImportOutcome.EXITED: "sees.exited",
    ImportOutcome.HUNG: "sees.hung",
}

_TOO_FEW = ("sees.no_device", "sees.fewer")


def _imports(facts: Facts) -> Iterator[Finding]:
    if facts.torch is None:
        yield Finding(_ID, "sees.no_torch", FindingState.SKIP)
        return
    backends = {backend.name: backend for backend in facts.backends}
    for report in facts.imports:
        if report.outcome is not ImportOutcome.LOADED:
            yield _failed(report, facts, backends)
            continue
        yield _finding("sees.loaded", FindingState.OK, report, None)
        for name, count in report.counts.items():
            yield _counted(report, backends[name], count, facts)
        for name, error in report.count_errors.items():
            state = impact(backends[name], facts)
            yield _finding("sees.count_failed", state, report, name, error=error)


def _failed(report: ImportReport, facts: Facts, backends: dict[str, Backend]) -> Finding:
    package, owners = report.job.package, report.job.device_types
    device = owners[0] if owners and package != "torch" else None
    autoloaded = facts.autoload_enabled and package in {e.package for e in facts.autoload}
    grave = device is None or autoloaded  # without torch, or with it broken, nothing runs
    state = FindingState.FAIL if grave else impact(backends[owners[0]], facts)
    reinstall = f"pip install --force-reinstall {package}"
    commands = (f"export {AUTOLOAD_VARIABLE}=0", reinstall) if autoloaded else (reinstall,)
    return _finding(_CODES[report.outcome], state, report, device, commands=commands)


def _counted(report: ImportReport, backend: Backend, count: int, facts: Facts) -> Finding:
    assert backend.spec is not None, "only backends that load are imported"
    expected = backend.probe.count if backend.probe.status is ProbeStatus.AVAILABLE else None
    if count == 0 and (is_present(backend.spec, facts) or expected):
        code, state = "sees.no_device", FindingState.FAIL
    elif expected is not None and count < expected:
        code, state = "sees.fewer", FindingState.WARN
    else:
        code, state = "sees.devices", FindingState.OK if count else FindingState.INFO
    present = expected or _boards_here(backend.spec, facts)
    commands = ("accelhal doctor device.count device.mask",) if code in _TOO_FEW else ()
    return _finding(
        code,
        state,
        report,
        backend.name,
        commands=commands,
        count=count,
        expected=present or "?",
        boards="1 board" if present == 1 else f"{present or count} boards",
    )


def _boards_here(spec: BackendSpec, facts: Facts) -> int:
    return max(len(boards_of(spec, facts)), len(board_nodes(spec, facts)))


def _finding(
    code: str,
    state: FindingState,
    report: ImportReport,
    device: str | None,
    *,
    commands: tuple[str, ...] = (),
    **params: str | int,
) -> Finding:
    evidence = {"last step": report.step, "seconds": f"{report.seconds:.1f}"}
    if report.output:
        evidence["printed last"] = report.output
    return Finding(
        _ID,
        code,
        state,
        {
            "package": report.job.package,
            "version": report.version,
            "step": report.step,
            "detail": report.detail,
            **params,
        },
        device,
        evidence,
        commands,
    )


SEES = Check(
    _ID,
    "Framework",
    "torch and each vendor package imported in a child process, and the devices each one sees",
    ("child processes",),
    _imports,
    Cost.CHILD,
    depends_on=("plugin.load", "driver.nodes", "device.mask", "framework.build"),
    explanation="Each package is imported in a process of its own, which may crash or hang without "
    "harm, and torch is asked how many devices it has; --timeout limits each. None where boards "
    "are here is a failure, fewer than are visible is a warning. The checks below it say which "
    "layer lost them: driver, nodes, mask, build.",
)
