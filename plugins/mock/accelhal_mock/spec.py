"""The mock backend's spec: there by name alone, never chosen by itself.

A probe loads no simulation unless a variable asks for boards: every listing of backends runs it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from accelhal.errors import AccelhalError, UsageError
from accelhal.facts import Probe, ProbeStatus
from accelhal.host import Host
from accelhal.runtimes.torch_loading import INSTALL_TORCH
from accelhal.spi import API_VERSION, BackendSpec, Management, Runtime
from accelhal_mock.environment import (
    BOARDS_VARIABLE,
    DEFAULT_COUNT,
    DEFAULT_NAME,
    DEFAULT_PROFILE,
    FAULTS_VARIABLE,
    settings_from_environment,
    variables_named,
)
from accelhal_mock.mode import choose_mode

if TYPE_CHECKING:
    from accelhal_mock.installation import Installation
    from accelhal_mock.simulation import Fault

_LIBRARY_STATUS = {
    "library_missing": ProbeStatus.NO_DRIVER,
    "library_broken": ProbeStatus.LIBRARY_BROKEN,
    "permission_denied": ProbeStatus.NO_DRIVER,
}


def _probe(host: Host) -> Probe:
    if host.find_package("torch") is None:
        return Probe(ProbeStatus.NOT_INSTALLED, 0, "torch is not installed", INSTALL_TORCH)
    try:
        settings = settings_from_environment(host.environ)
        if settings:
            with variables_named(host.environ):
                _check(settings)
    except AccelhalError as error:
        return Probe(ProbeStatus.INCOMPATIBLE, None, error.message, error.hint or "")
    evidence = {
        variable: host.environ[variable]
        for variable in (BOARDS_VARIABLE, FAULTS_VARIABLE)
        if variable in host.environ
    }
    for fault in settings.get("faults", ()):
        if fault.kind.value in _LIBRARY_STATUS:
            return _broken_library(fault, evidence)
    current = _installed()
    if current is None:
        choice = choose_mode(host)
        mode = settings.get("mode", choice.mode)
        reason = choice.reason if mode == choice.mode else f"{BOARDS_VARIABLE} asks for it"
        count = settings.get("count", DEFAULT_COUNT)
        profile = settings.get("profile", DEFAULT_PROFILE)
    else:
        mode, reason = current.choice.mode, current.choice.reason
        count = len(current.machine.boards)
        profile = current.machine.boards[0].profile.name
    evidence["mode"] = f"{mode}: {reason}"
    return Probe(
        ProbeStatus.AVAILABLE, count, f"simulated: {profile}, no hardware", evidence=evidence
    )


def _check(settings: Mapping[str, Any]) -> None:
    """Refuse what `install` would refuse; only a variable that is set costs the simulation."""
    from accelhal_mock.installation import configure

    configure(**{name: value for name, value in settings.items() if name != "mode"})


def _installed() -> Installation | None:
    installation = sys.modules.get("accelhal_mock.installation")
    return installation.installed() if installation is not None else None


def _broken_library(fault: Fault, evidence: dict[str, str]) -> Probe:
    from accelhal_mock.simulation.error_texts import LIBRARY_TEXTS

    return Probe(
        _LIBRARY_STATUS[fault.kind.value],
        None,
        f"simulated: {LIBRARY_TEXTS[fault.kind]}",
        f"unset {FAULTS_VARIABLE}",
        evidence,
    )


def _open_runtime() -> Runtime:
    from accelhal_mock.installation import install_from_environment

    installation = install_from_environment()
    machine = installation.machine
    if machine.name != DEFAULT_NAME:
        raise UsageError(
            f"the simulated boards are installed as {machine.name!r}, not as {DEFAULT_NAME!r}",
            backend=DEFAULT_NAME,
            operation="open",
            hint=f'use accelhal.device("{machine.name}:0")',
        )
    if installation.choice.mode == "plain":
        from accelhal_mock.plain.runtime import PlainRuntime

        return PlainRuntime()
    from accelhal_mock.runtime import PythonRuntime

    return PythonRuntime(machine.name)


def _open_management() -> Management:
    from accelhal_mock.installation import install_from_environment
    from accelhal_mock.management import SimulatedManagement

    install_from_environment()
    return SimulatedManagement()


SPEC = BackendSpec(
    name=DEFAULT_NAME,
    vendor="simulated",
    api_version=API_VERSION,
    priority=-10,
    probe=_probe,
    open_runtime=_open_runtime,
    open_management=_open_management,
    distributed_backend="gloo",
    simulated=True,
    extensions={
        "board_models": "accelhal_mock.profiles.catalogue:MODELS",
        "conformance": "accelhal_mock.conformance:SimulatedBoards",
        "operators": "accelhal_mock.operators:SUPPORT",
    },
)
