"""What must hold of every vendor's rows of faults and of versions that go together."""

from __future__ import annotations

import zipfile
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from accelhal_ascend.spec import SPEC as ASCEND
from accelhal_cambricon.spec import SPEC as CAMBRICON
from accelhal_cuda.spec import SPEC as CUDA
from hypothesis import given, strategies as st

from accelhal.facts.compatibility import PairState
from accelhal.facts.faults import Fault, FaultAction, FaultSeverity
from accelhal.facts.sources import Source, Strength
from accelhal.registry.extensions import load_extension
from accelhal.spi import BackendSpec
from accelhal.spi.compatibility_tables import CompatibilityTables
from accelhal.spi.fault_log import read_fault_events
from accelhal.spi.fault_tables import FaultTable, FaultTables
from accelhal.spi.versions import is_version

PLUGINS = Path(__file__).parents[2] / "plugins"
SPECS = {"cuda": CUDA, "ascend": ASCEND, "cambricon": CAMBRICON}

every_spec = pytest.mark.parametrize("spec", SPECS.values(), ids=list(SPECS))


@cache
def faults_of_backend(name: str) -> FaultTable:
    [spec] = [spec for spec in SPECS.values() if spec.name == name]
    tables = load_extension(spec, "faults", FaultTables)
    assert tables is not None
    return tables.read()


def faults_of(spec: BackendSpec) -> FaultTable:
    return faults_of_backend(spec.name)


def compatibility_of(spec: BackendSpec) -> CompatibilityTables:
    tables = load_extension(spec, "compatibility", CompatibilityTables)
    assert tables is not None
    return tables


def is_sound(source: Source) -> bool:
    return len(source.text) > 5 and source.date[:2] == "20" and source.strength in Strength


@every_spec
def test_every_fault_says_what_it_is_and_where_it_was_read(spec: BackendSpec) -> None:
    for fault in faults_of(spec).faults:
        assert is_sound(fault.source), fault
        assert fault.meaning, fault
        assert fault.listed, fault


@every_spec
def test_what_cannot_be_worse_than_a_note_asks_for_no_reset(spec: BackendSpec) -> None:
    replaced = (FaultAction.RMA, FaultAction.RESET)
    for fault in faults_of(spec).faults:
        assert fault.severity is not FaultSeverity.INFO or fault.action not in replaced, fault
        assert fault.severity is not FaultSeverity.FATAL or fault.action is not FaultAction.NONE


@every_spec
def test_every_fault_is_found_by_its_own_code_and_name(spec: BackendSpec) -> None:
    table = faults_of(spec)
    names = Counter((fault.family, fault.name.lower()) for fault in table.faults)
    for fault in table.faults:
        assert table.find(fault.family, fault.code) == fault
        if fault.name and names[fault.family, fault.name.lower()] == 1:
            assert table.find(fault.family, fault.name.upper()) == fault


WORDS = st.sampled_from(
    (
        *("NVRM: Xid (PCI:", "CNRM: Xid [", "SXid (PCI:", "0000:3b:00.0", "):", "]:", " 79"),
        *(", Fatal", ", Non-fatal", "NVRM: GPU at ", " fallen off the bus", "[ 12.5] ", "7,1,9,-;"),
    )
)


@every_spec
@given(st.lists(st.lists(st.one_of(WORDS, st.text(max_size=9)), max_size=9).map("".join)))
def test_any_kernel_log_is_read(spec: BackendSpec, lines: list[str]) -> None:
    for event in read_fault_events(lines, faults_of(spec)):
        assert isinstance(event.fault, Fault)


@every_spec
@pytest.mark.parametrize(
    "unit", ["NVRM: Xid (PCI:", "SXid (PCI:0", "CNRM: Xid [", "GPU 0000:", " "]
)
def test_no_line_keeps_a_pattern_busy(spec: BackendSpec, unit: str) -> None:
    """A pattern that backtracks would not end within the test's time."""
    table = faults_of(spec)
    needles = "".join(known.needle for known in table.log_patterns)
    events = read_fault_events([needles + unit * 1000] * 100, table)
    assert len(events) <= 100


@every_spec
def test_every_row_of_versions_has_its_source(spec: BackendSpec) -> None:
    rows = compatibility_of(spec).read()
    known = (*(row for table in rows.sets.values() for row in table), *rows.builds)
    for row in (*known, *rows.exclusions):
        assert is_sound(row.source), row


@every_spec
def test_no_row_of_versions_is_given_twice(spec: BackendSpec) -> None:
    rows = compatibility_of(spec).read()
    for table in rows.sets.values():
        keys = Counter((repr(row.versions), repr(row.only)) for row in table)
        assert [key for key, count in keys.items() if count > 1] == []
    builds = Counter((row.release, row.build, row.platform) for row in rows.builds)
    assert [key for key, count in builds.items() if count > 1] == []


@every_spec
def test_ranges_are_versions(spec: BackendSpec) -> None:
    for table in compatibility_of(spec).read().sets.values():
        for row in table:
            ranges = [part for one in row.versions.values() for part in ",".join(one).split(",")]
            assert all(one == "*" or is_version(one.strip(" <>=")) for one in ranges), row


@every_spec
def test_every_component_of_a_row_can_be_named(spec: BackendSpec) -> None:
    tables = compatibility_of(spec)
    used = {name for table in tables.read().sets.values() for row in table for name in row.versions}
    axes = {row.axis for row in tables.read().exclusions}
    inner = {"cuda_runtime", "nccl", "cudnn"}  # of a wheel: what it needs, it brings
    assert used | axes <= set(tables.components) | inner


@every_spec
@given(st.data())
def test_any_host_is_judged(spec: BackendSpec, data: st.DataObject) -> None:
    tables = compatibility_of(spec)
    words = st.sampled_from(("2.7.1", "12.8", "580.65.06", "8.3.RC2", "sm_86", "2.9+cu128", "9"))
    texts = st.one_of(st.text(max_size=9), words)
    found = data.draw(st.dictionaries(st.sampled_from(sorted(tables.components)), texts))
    for verdict in tables.judge(found):
        assert (verdict.change is None) == (verdict.state in (PairState.OK, PairState.UNKNOWN))


@every_spec
def test_of_nothing_nothing_is_said(spec: BackendSpec) -> None:
    assert compatibility_of(spec).judge({}) == ()


@pytest.mark.parametrize("plugin", SPECS)
def test_the_wheel_brings_the_tables(
    plugin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = pytest.importorskip("hatchling.build")
    monkeypatch.chdir(PLUGINS / plugin)
    with zipfile.ZipFile(tmp_path / build.build_wheel(str(tmp_path))) as wheel:
        for name in ("faults.json", "compatibility.json"):
            path = f"accelhal_{plugin}/{name}"
            assert wheel.read(path) == (PLUGINS / plugin / path).read_bytes()
