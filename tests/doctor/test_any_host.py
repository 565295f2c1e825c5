"""Whatever a host's evidence says, no check crashes and every finding can be put into words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evidence.snapshots import COUNT, SNAPSHOTS, TEXT, TEXTS, facts
from hypothesis import HealthCheck, given, settings, strategies as st

from accelhal.doctor.catalogue import Catalogue, catalogue
from accelhal.doctor.document import report_document
from accelhal.doctor.engine import run_checks
from accelhal.doctor.facts import Facts
from accelhal.doctor.markdown import report_markdown
from accelhal.doctor.wording import summary
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import FindingState
from accelhal.facts.host_record import (
    AirReading,
    BusPort,
    HostRecord,
    NumaNode,
    ProcessPlacement,
)
from accelhal.selection import Needs, rank

BACKENDS = st.sampled_from(["cuda", "npu", "mlu", "mock", "cpu", "toy", ""])
NODES = st.sampled_from(["/dev/nvidia0", "/dev/davinci0", "/dev/cambricon_dev0", "/dev/dri", ""])
FLAGS = st.none() | st.dictionaries(NODES | TEXT, st.booleans(), max_size=2)
NUMBERS = st.lists(COUNT, max_size=3).map(tuple)
LINES = st.lists(TEXT, max_size=3).map(tuple)
MAYBE_TEXTS = st.none() | TEXTS


def many(kind: type, /, **given: st.SearchStrategy) -> st.SearchStrategy:
    return st.none() | st.lists(facts(kind, **given), max_size=2).map(tuple)


RECORDS = facts(
    HostRecord,
    modules=MAYBE_TEXTS,
    built_modules=FLAGS,
    variables=MAYBE_TEXTS
    | st.dictionaries(
        st.sampled_from(
            ["CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "ACCELHAL_DEVICE", "LD_PRELOAD"]
        ),
        TEXT | st.sampled_from(["0", "-1", "0,0", "9", "cuda:7", ",", "٣"]),
    ),
    nodes=FLAGS,
    refused_nodes=st.none() | LINES,
    files=TEXTS,
    libraries=MAYBE_TEXTS,
    unlisted_libraries=TEXTS,
    services=MAYBE_TEXTS,
    packages=MAYBE_TEXTS
    | st.dictionaries(st.sampled_from(["torch", "torch_npu", "torch-npu", "torch_mlu"]), TEXT),
    torch_builds=TEXTS | st.dictionaries(st.sampled_from(["cuda", "hip"]), TEXT),
    ports=many(BusPort, behind=st.none() | st.tuples(COUNT, COUNT)),
    iommu=MAYBE_TEXTS,
    numa_nodes=many(NumaNode, cpus=NUMBERS),
    cpus=st.none() | NUMBERS,
    placements=many(ProcessPlacement, cpus=NUMBERS, pages=NUMBERS),
    worker_variables=st.dictionaries(TEXT, TEXTS, max_size=2),
    rdma=st.none() | LINES,
    kernel_log=st.none() | LINES,
    messages=LINES,
    air=many(AirReading),
)


@st.composite
def hosts(draw: st.DrawFn) -> Snapshot:
    """Snapshots whose boards are of backends that plugins know, with a record of the host."""
    snapshot = draw(SNAPSHOTS)
    told = []
    for evidence in snapshot.evidence:
        backend = draw(BACKENDS)
        boards = tuple(
            replace(r, board=replace(r.board, backend=backend, name=draw(TEXT)))
            for r in evidence.boards
        )
        told.append(replace(evidence, backend=backend, boards=boards))
    return replace(snapshot, evidence=tuple(told), record=draw(st.none() | RECORDS))


@pytest.fixture(scope="module")
def known() -> Catalogue:
    return catalogue(Facts(evidence=Snapshot()).specs)


@settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)
@given(snapshot=hosts())
def test_every_check_ends_in_words(known: Catalogue, snapshot: Snapshot) -> None:
    facts_of_host = Facts(evidence=snapshot)
    report = run_checks(known.select([]), facts_of_host, texts=known.texts)
    crashed = [
        (finding.check, dict(finding.params), dict(finding.evidence))
        for finding in report.findings
        if finding.state is FindingState.ERROR
    ]
    assert not crashed
    report_document(report, facts_of_host, redacted=False)
    report_markdown(report, facts_of_host)
    for finding in report.findings:
        summary([finding, finding], known.texts)


@settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)
@given(snapshot=hosts(), count=st.integers(1, 4))
def test_boards_of_any_host_are_ranked_once_each(snapshot: Snapshot, count: int) -> None:
    choices = rank(snapshot, Needs(count=count, memory=1, dtype="bfloat16", throughput=1.0))
    places = [id(reading) for choice in choices for reading in choice.boards]
    assert len(places) == len(set(places))
