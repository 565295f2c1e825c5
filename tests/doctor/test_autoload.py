"""Packages that torch loads inside its own import, read from entry points on the path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from doctor.toys import FakeHost, answering, states, toy_spec

from accelhal.doctor.catalogue import catalogue
from accelhal.doctor.engine import run_checks
from accelhal.facts import Finding, FindingState, ProbeStatus
from accelhal.spi import BackendSpec


@pytest.fixture
def autoloaded(
    install_plugin: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, fake: FakeHost
) -> FakeHost:
    """A host on which torch loads the package torch_toy by itself."""
    folder = install_plugin(
        "torch-toy",
        code="",
        module="torch_toy",
        entry_points="[torch.backends]\ntoy = torch_toy:load\n",
    )
    monkeypatch.syspath_prepend(str(folder))
    fake.package("torch", "2.13.0")
    return fake


def found(fake: FakeHost) -> list[Finding]:
    report = run_checks(catalogue().select(["framework.autoload"]), fake.facts)
    return [f for f in report.findings if "toy" in str(f.params)]


def test_a_sound_entry_is_listed(autoloaded: FakeHost) -> None:
    autoloaded.package("torch_toy")
    assert states(found(autoloaded)) == {"autoload.on": FindingState.OK}


def test_an_entry_whose_package_is_gone_fails_every_import(autoloaded: FakeHost) -> None:
    (finding,) = found(autoloaded)
    assert (finding.code, finding.state) == ("autoload.missing", FindingState.FAIL)
    assert finding.commands[0] == "export TORCH_DEVICE_BACKEND_AUTOLOAD=0"


@pytest.mark.parametrize("status", [ProbeStatus.LIBRARY_BROKEN, ProbeStatus.INCOMPATIBLE])
def test_an_entry_whose_probe_is_broken_fails(
    autoloaded: FakeHost, install: Callable[[BackendSpec], None], status: ProbeStatus
) -> None:
    install(toy_spec(answering(status)))
    autoloaded.package("torch_toy")
    (finding,) = found(autoloaded)
    assert (finding.code, finding.state) == ("autoload.broken", FindingState.FAIL)
    assert finding.confidence == "likely"


def test_switched_off(autoloaded: FakeHost) -> None:
    autoloaded.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    assert states(found(autoloaded)) == {"autoload.off": FindingState.INFO}


def test_a_torch_that_does_not_autoload(autoloaded: FakeHost) -> None:
    (autoloaded.packages["torch"] / "version.py").write_text("__version__ = '2.4.1'\n")
    assert states(found(autoloaded)) == {"autoload.unsupported": FindingState.INFO}
