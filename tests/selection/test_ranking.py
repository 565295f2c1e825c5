"""Boards ranked for needs: what fits goes first, each choice says why, no board is lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from doctor.cases.evidence_of import boards, related, snapshot
from hypothesis import given, strategies as st

from accelhal.errors import UsageError
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import (
    BoardReading,
    BoardRelation,
    HealthReport,
    HealthStatus,
    ProcessMemory,
    Relation,
    Telemetry,
)
from accelhal.facts.models import BoardModel
from accelhal.selection import PRESETS, Choice, Needs, rank

GIB = 1 << 30


def board_like(
    reading: BoardReading,
    *,
    total: int | None = 80 * GIB,
    used: int = 0,
    held: bool = False,
    name: str = "Fast",
    vendor: str = "NVIDIA",
    health: HealthStatus = HealthStatus.OK,
) -> BoardReading:
    info = replace(reading.board, name=name, vendor=vendor, total_memory=total)
    return replace(
        reading,
        board=info,
        telemetry=Telemetry(memory_used=used, memory_total=total),
        processes=(ProcessMemory(1, used),) if held else (),
        health=HealthReport(health),
    )


MODELS = {
    "Fast": BoardModel(
        id="fast",
        vendor="x",
        names=("Fast",),
        peak_rates={"bfloat16": 300e12, "float32": 50e12},
        strength="vendor document",
        sources=(),
    ),
    "Slow": BoardModel(
        id="slow",
        vendor="x",
        names=("Slow",),
        peak_rates={"float32": 10e12},
        unsupported=("bfloat16",),
        strength="vendor document",
        sources=(),
    ),
}


def ranked(shown: Snapshot, **needs: Any) -> list[Choice]:
    return rank(shown, Needs(**needs), lambda reading: MODELS.get(reading.board.name))


def numbers(choice: Choice) -> list[int | None]:
    return [reading.board.index for reading in choice.boards]


def host(*seen: dict[str, Any], relations: tuple[BoardRelation, ...] = ()) -> Snapshot:
    readings = boards("cuda", len(seen))
    made = [board_like(reading, **how) for reading, how in zip(readings, seen, strict=True)]
    return snapshot("cuda", made, relations=relations)


def test_the_board_with_memory_left_goes_first() -> None:
    best, other = ranked(host({"used": 70 * GIB}, {"used": 10 * GIB}), memory=40 * GIB)
    assert (numbers(best), best.fits) == ([1], True)
    assert (numbers(other), other.fits) == ([0], False)
    assert [r.text for r in other.reasons] == ["10.0 GiB free, 40.0 GiB asked for"]


def test_an_element_type_that_a_board_has_no_units_for() -> None:
    best, other = ranked(host({"name": "Slow"}, {"name": "Fast"}), dtype="bfloat16")
    assert (numbers(best), best.fits, other.fits) == ([1], True, False)
    (unknown,) = ranked(host({"name": "Unheard of"}), dtype="bfloat16")
    assert unknown.fits, "what is not known is not held against a board"
    assert [reason.met for reason in unknown.reasons] == [None]


def test_throughput_is_that_of_all_boards_together() -> None:
    shown = host({}, {}, relations=related(2, Relation.LINK))
    (enough,) = ranked(shown, count=2, dtype="bfloat16", throughput=600e12)
    (short,) = ranked(shown, count=2, dtype="bfloat16", throughput=601e12)
    assert (enough.fits, short.fits) == (True, False)


def test_links_decide_which_boards_go_together() -> None:
    relations = tuple(
        replace(
            pair,
            relation=Relation.LINK if (pair.one, pair.other) in {(0, 2), (1, 3)} else Relation.SYS,
        )
        for pair in related(4, Relation.SYS)
    )
    choices = ranked(host({}, {}, {}, {}, relations=relations), count=2, apart=Relation.LINK)
    assert [numbers(choice) for choice in choices] == [[0, 2], [1, 3]]
    assert all(choice.fits for choice in choices)
    far = ranked(host({}, {}, relations=related(2, Relation.PHB)), count=2, apart=Relation.PIX)
    assert [choice.fits for choice in far] == [False]


@pytest.mark.parametrize(
    ("needs", "fits"),
    [
        ({"backends": ("cuda",)}, True),
        ({"backends": ("npu",)}, False),
        ({"not_backends": ("cuda",)}, False),
        ({"countries": ("US",)}, True),
        ({"countries": ("CN",)}, False),
    ],
)
def test_whose_boards_are_allowed(needs: dict[str, Any], fits: bool) -> None:
    (choice,) = ranked(host({}), **needs)
    assert choice.fits is fits


def test_sick_and_busy_boards_go_last() -> None:
    shown = host({"health": HealthStatus.FAILED}, {"held": True}, {})
    choices = ranked(shown)
    assert [numbers(choice) for choice in choices] == [[2], [1], [0]]
    assert [choice.fits for choice in choices] == [True, True, False]
    assert [choice.fits for choice in ranked(shown, idle=True)] == [True, False, False]


def test_boards_are_not_mixed_between_backends() -> None:
    one = snapshot("cuda", [board_like(r) for r in boards("cuda", 1)])
    other = snapshot("npu", [board_like(r, vendor="Huawei") for r in boards("npu", 2)])
    both = replace(one, evidence=(*one.evidence, *other.evidence))
    choices = ranked(both, count=2)
    assert [choice.fits for choice in choices] == [True, False]
    assert {r.board.backend for r in choices[0].boards} == {"npu"}
    assert choices[1].reasons[0].text == "1 of 2 boards are there"


def test_presets_say_what_they_are_for() -> None:
    assert set(PRESETS) == {"quick", "domestic", "linked"}
    (choice,) = rank(host({}), PRESETS["domestic"][0], lambda reading: None)
    assert not choice.fits


@pytest.mark.parametrize(
    "needs",
    [{"count": 0}, {"throughput": 1.0}, {"backends": ("npu",), "not_backends": ("npu",)}],
)
def test_needs_that_make_no_sense_are_refused(needs: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Needs(**needs)


BOARD = st.fixed_dictionaries(
    {
        "total": st.sampled_from([None, 16 * GIB, 80 * GIB]),
        "used": st.sampled_from([0, 8 * GIB]),
        "held": st.booleans(),
        "name": st.sampled_from(["Fast", "Slow", "Unheard of"]),
        "health": st.sampled_from(HealthStatus),
    }
)


@given(
    st.lists(BOARD, max_size=6),
    st.integers(1, 3),
    st.sampled_from([None, 10 * GIB]),
    st.sampled_from([None, "bfloat16"]),
    st.sampled_from([None, *Relation]),
    st.data(),
)
def test_any_host_and_any_needs(
    seen: list[dict[str, Any]],
    count: int,
    memory: int | None,
    dtype: str | None,
    apart: Relation | None,
    data: st.DataObject,
) -> None:
    relations = tuple(
        replace(pair, relation=data.draw(st.sampled_from(Relation)))
        for pair in related(len(seen), Relation.SYS)
    )
    shown = host(*seen, relations=relations)
    choices = ranked(shown, count=count, memory=memory, dtype=dtype, apart=apart)
    used = [number for choice in choices for number in numbers(choice)]
    assert len(used) == len(set(used)), "a board is in one choice at most"
    assert len(choices) == (len(seen) // count or bool(seen))
    fitting = [choice.fits for choice in choices]
    assert fitting == sorted(fitting, reverse=True), "what fits goes first"
    for choice in choices:
        assert choice.fits <= (len(choice.boards) == count)
        assert choice.fits == (not [r for r in choice.reasons if r.met is False])
