"""What measured figures say: against siblings, the model, the link and pairs just as near."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from doctor.cases.evidence_of import boards, related, snapshot

from accelhal.doctor.catalogue import catalogue
from accelhal.doctor.checks import performance_measure
from accelhal.doctor.engine import run_checks
from accelhal.doctor.facts import Facts
from accelhal.doctor.measuring.outcomes import MeasuredBoard, Outcome
from accelhal.facts import (
    BoardDetails,
    BoardReading,
    Finding,
    FindingState,
    PcieLink,
    ProcessMemory,
    Relation,
    Telemetry,
)
from accelhal.facts.measured import BoardFigures
from accelhal.facts.models import BoardModel
from accelhal.spi.doctor import Cost

OK, INFO, SKIP, WARN, FAIL = (
    FindingState.OK,
    FindingState.INFO,
    FindingState.SKIP,
    FindingState.WARN,
    FindingState.FAIL,
)
LINK = PcieLink(generation=4, max_generation=4, lanes=16, max_lanes=16)
FINE = BoardFigures(
    products={"float32": 18e12, "float16": 270e12},
    memory=1.7e12,
    to_board={"pinned": 25e9, "pageable": 9e9},
    from_board={"pinned": 26e9, "pageable": 7e9},
    telemetry=Telemetry(power=390.0, power_limit=400.0, core_clock=1400.0, throttle_reasons=()),
    pcie=LINK,
    clock="device_events",
)
MODEL = BoardModel(
    id="board",
    vendor="Vendor",
    names=("Board",),
    bandwidth=2e12,
    peak_rates={"float32": 19.5e12, "float16": 312e12},
    strength="vendor document",
    sources=("test",),
)
DETAILS = BoardDetails(default_power_limit=400.0, max_core_clock=1410.0)


def host(*figures: BoardFigures) -> list[MeasuredBoard]:
    """Boards of one model, each with its figures."""
    rest = Telemetry(utilization=0.0)
    readings = boards("npu", len(figures), details=DETAILS, telemetry=rest, processes=())
    return [
        MeasuredBoard(reading, Outcome.MEASURED, f)
        for reading, f in zip(readings, figures, strict=True)
    ]


def judged(
    check: str,
    measured: Sequence[MeasuredBoard],
    monkeypatch: pytest.MonkeyPatch,
    model: BoardModel | None = None,
    **shown: Any,
) -> list[Finding]:
    monkeypatch.setattr(performance_measure, "board_model", lambda board: model)
    facts = Facts()
    facts.__dict__["measured"] = tuple(measured)
    facts.__dict__["snapshot"] = snapshot("npu", [m.reading for m in measured], **shown)
    return list(run_checks(catalogue().select([check]), facts, scene=set(Cost)).findings)


@pytest.mark.parametrize("check", ["perf.measure", "pcie.bandwidth"])
def test_boards_that_differ_by_a_few_percent_are_fine(
    check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = replace(FINE, products={"float32": 17e12, "float16": 255e12}, memory=1.65e12)
    found = judged(check, host(FINE, near, FINE), monkeypatch, MODEL)
    assert [finding.state for finding in found] == [OK] * 3


def test_a_board_slower_than_its_siblings(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Telemetry(power=390.0, power_limit=400.0, core_clock=900.0, throttle_reasons=("hot",))
    slow = replace(FINE, products={"float32": 12e12, "float16": 150e12}, telemetry=seen)
    found = judged("perf.measure", host(FINE, slow, FINE), monkeypatch)
    assert [finding.state for finding in found] == [OK, WARN, OK]
    assert found[1].code == "measure.slow_sibling"
    assert found[1].params["figure"] == "float16 products", "the figure that falls shortest"
    assert found[1].params["limits"] == "throttled: hot; clock 900 MHz of 1410 MHz"
    assert found[1].commands[0] == "accelhal doctor thermal.throttle power.limit"
    assert found[1].commands[-1] == "accelhal doctor --measure perf.measure"


def test_a_board_that_was_shared_is_slow_for_that(monkeypatch: pytest.MonkeyPatch) -> None:
    fine, slow = host(FINE, replace(FINE, memory=0.9e12))
    forced = replace(slow, reading=replace(slow.reading, processes=(ProcessMemory(7, None),)))
    found = judged("perf.measure", [fine, forced], monkeypatch)
    assert found[1].params["limits"] == "process 7 is on it (--force)"


def test_two_slow_boards_of_three_are_still_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = replace(FINE, memory=0.9e12)
    found = judged("perf.measure", host(slow, FINE, slow), monkeypatch)
    assert [finding.state for finding in found] == [WARN, OK, WARN]


LOWERED = replace(FINE.telemetry or Telemetry(), power_limit=250.0)


@pytest.mark.parametrize(
    ("figures", "model", "code", "state"),
    [
        pytest.param(FINE, MODEL, "measure.fine", OK, id="as published"),
        pytest.param(
            replace(FINE, products={"float16": 210e12}),
            MODEL,
            "measure.below_model",
            INFO,
            id="at its power limit",
        ),
        pytest.param(
            replace(FINE, products={"float16": 210e12}, telemetry=LOWERED),
            MODEL,
            "measure.slow_model",
            WARN,
            id="lowered power limit",
        ),
        pytest.param(
            replace(FINE, products={"float16": 120e12}),
            MODEL,
            "measure.slow_model",
            WARN,
            id="less than half",
        ),
        pytest.param(
            replace(FINE, products={"float16": 120e12}, short=("float16",)),
            MODEL,
            "measure.fine",
            OK,
            id="launches count",
        ),
        pytest.param(
            replace(FINE, products={"float16": 120e12}),
            replace(MODEL, unverified=("peak_rates.float16",)),
            "measure.fine",
            OK,
            id="figure unverified",
        ),
        pytest.param(
            replace(FINE, products={"float16": 120e12}),
            replace(MODEL, strength="from general knowledge, unverified"),
            "measure.fine",
            OK,
            id="model unverified",
        ),
        pytest.param(
            replace(FINE, products={"float16": 120e12}), None, "measure.fine", OK, id="no model"
        ),
        pytest.param(
            replace(FINE, products={"float16": 135e12}, memory=0.9e12),
            replace(MODEL, chips=2),
            "measure.fine",
            OK,
            id="one chip of two",
        ),
    ],
)
def test_a_board_alone_against_its_model(
    figures: BoardFigures,
    model: BoardModel | None,
    code: str,
    state: FindingState,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (found,) = judged("perf.measure", host(figures), monkeypatch, model)
    assert (found.code, found.state) == (code, state)


@pytest.mark.parametrize(
    ("rate", "link", "code", "limits"),
    [
        (25e9, LINK, "copies.fine", ""),
        (12e9, LINK, "copies.slow_link", "no limit was seen at work"),
        (6e9, replace(LINK, lanes=4), "copies.slow_link", "PCIe x4 of x16"),
        (3e9, replace(LINK, generation=1), "copies.slow_link", "PCIe generation 1 of 4"),
        (3e9, PcieLink(), "copies.fine", ""),
    ],
)
def test_copies_against_what_the_link_carries(
    rate: float, link: PcieLink, code: str, limits: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = replace(FINE, to_board={"pinned": rate}, from_board={"pinned": rate}, pcie=link)
    (found,) = judged("pcie.bandwidth", host(figures), monkeypatch)
    assert found.code == code
    assert found.params.get("limits", "") == limits


@pytest.mark.parametrize(
    ("rates", "code"),
    [
        ({"pinned": 25e9, "pageable": 2e9}, "copies.fine"),
        ({"pageable": 2e9}, "copies.slow_siblings"),
    ],
)
def test_copies_of_pageable_memory_count_where_none_is_pinned(
    rates: dict[str, float], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fine, slow = host(FINE, replace(FINE, to_board=rates, from_board=rates))
    found = judged("pcie.bandwidth", [fine, slow], monkeypatch)
    assert [finding.code for finding in found] == ["copies.fine", code]


def test_pairs_are_held_against_pairs_just_as_near(monkeypatch: pytest.MonkeyPatch) -> None:
    three = host(FINE, FINE, FINE)
    keys = [m.reading.board.key for m in three]
    assert keys[1] is not None
    assert keys[2] is not None
    rates = [{keys[1]: 20e9, keys[2]: 5e9}, {keys[2]: 21e9}, {}]
    measured = [
        replace(m, figures=replace(FINE, peers=peers))
        for m, peers in zip(three, rates, strict=True)
    ]
    near = related(3, Relation.PIX)
    found = judged("pcie.bandwidth", measured, monkeypatch, relations=near)
    assert [finding.code for finding in found] == [
        "copies.slow_pairs",
        "copies.fine",
        "copies.fine",
    ]
    assert found[0].params["figure"] == "copies to npu board 2"
    far = [r if {r.one, r.other} != {0, 2} else replace(r, relation=Relation.SYS) for r in near]
    found = judged("pcie.bandwidth", measured, monkeypatch, relations=far)
    assert {finding.code for finding in found} == {"copies.fine"}, "it alone is that far"


def one(outcome: Outcome) -> MeasuredBoard:
    reading: BoardReading = boards("npu", 1)[0]
    return MeasuredBoard(reading, outcome, detail="why", step="matrix product in float32")


@pytest.mark.parametrize(
    ("outcome", "code", "state"),
    [
        (Outcome.IN_USE, "measure.in_use", SKIP),
        (Outcome.HIDDEN, "measure.hidden", SKIP),
        (Outcome.NOT_OPENED, "measure.not_opened", FindingState.UNKNOWN),
        (Outcome.FAILED, "measure.failed", FAIL),
        (Outcome.HUNG, "measure.hung", FAIL),
    ],
)
def test_boards_without_figures(
    outcome: Outcome, code: str, state: FindingState, monkeypatch: pytest.MonkeyPatch
) -> None:
    (found,) = judged("perf.measure", [one(outcome)], monkeypatch)
    assert (found.code, found.state) == (code, state)
    (copies,) = judged("pcie.bandwidth", [one(outcome)], monkeypatch)
    assert copies.state not in (WARN, FAIL), "said once"


def test_a_board_in_use_is_measured_by_force(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = judged("perf.measure", [one(Outcome.IN_USE)], monkeypatch)
    assert found.commands == ("accelhal doctor --measure --force perf.measure",)
    assert found.disturbs


def test_a_host_without_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = judged("perf.measure", [], monkeypatch)
    assert (found.code, found.state) == ("measure.no_board", SKIP)
