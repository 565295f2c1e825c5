"""The rules about hardware and a vendor's package: on an honest backend and on one that lies."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from accelhal.testing.conformance import Outcome
from accelhal.testing.conformance_run import Limits, run

PLUGIN = """
from accelhal.facts import Probe, ProbeStatus
from accelhal.spi import BackendSpec

def probe(host):
    if not host.exists("/proc/self/status"):  # stands for the driver's node
        return Probe(ProbeStatus.NO_HARDWARE, 0, "no board")
    if host.find_package("toy_vendor") is None:
        return Probe(ProbeStatus.NOT_INSTALLED, 1, "no toy_vendor", "pip install toy_vendor")
    return Probe(ProbeStatus.AVAILABLE, 1, "all is there")

def open_runtime():
    import toy_vendor
    from accelhal.runtimes.cpu import CpuRuntime
    return CpuRuntime()

SPEC = BackendSpec(
    name="toy", vendor="Toymaker", api_version=(1, 0), priority=1, probe=probe,
    open_runtime=open_runtime, torch_package="toy_vendor", pci_vendor_ids=("1f9c",),
)
"""
LIE = "def probe(host):\n    return Probe(ProbeStatus.AVAILABLE, 1, 'surely')\n"

POINTS = "[accelhal.backends]\ntoy = accelhal_toy:SPEC\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lying", "failing"),
    [
        (False, set()),
        (True, {"probe_finds_no_board_on_an_empty_host", "probe_misses_the_vendor_package"}),
    ],
    ids=["honest", "lying"],
)
def test_a_vendors_package_is_tried_missing_and_broken(
    lying: bool,
    failing: set[str],
    tmp_path: Path,
    install_plugin,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = PLUGIN.replace("\nSPEC =", f"\n{LIE}\nSPEC =") if lying else PLUGIN
    folder = install_plugin("accelhal-toy", code=code, entry_points=POINTS, module="accelhal_toy")
    (folder / "toy_vendor.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *filter(None, sys.path)]))
    report = run("toy", ["loading"], limits=Limits(run_s=280))
    assert {result.rule for result in report.having(Outcome.FAILED)} == failing
    assert not report.having(Outcome.NOT_APPLICABLE)
    assert report.complete
