"""What sets of known versions say of two components."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from accelhal.facts.compatibility import Exclusion, KnownSet, PairState
from accelhal.facts.sources import Source, Strength
from accelhal.spi.known_pairs import judge_exclusions, judge_pair

SOURCE = Source("a page", "2026-11", Strength.VENDOR_DOCUMENT)
HEARSAY = Source("nobody knows", "2026-11", Strength.UNVERIFIED)


def row(source: Source = SOURCE, **versions: Any) -> KnownSet:
    options = {
        name: versions.pop(name) for name in ("only", "enough", "measured") if name in versions
    }
    ranges = {name: (one,) if isinstance(one, str) else one for name, one in versions.items()}
    return KnownSet(versions=ranges, source=source, **options)


ROWS = [
    row(kit="1.0", driver=("10.1", "10.2")),
    row(kit="2.0", driver="20.1"),
    row(kit="3.0", driver="20.0"),
]


def state(rows: list[KnownSet], **found: str) -> PairState:
    verdict = judge_pair(rows, found, "kit", "driver")
    assert verdict is not None
    return verdict.state


def test_a_listed_pair_is_ok() -> None:
    assert state(ROWS, kit="1.0", driver="10.2") is PairState.OK


def test_older_than_all_that_is_listed_is_too_old() -> None:
    verdict = judge_pair(ROWS, {"kit": "1.0", "driver": "9"}, "kit", "driver")
    assert verdict is not None
    assert (verdict.state, verdict.change) == (PairState.TOO_OLD, "driver")
    assert verdict.wanted == verdict.partners == ("10.1", "10.2")
    assert verdict.sources == (SOURCE,)


@pytest.mark.parametrize(
    "found",
    [{"kit": "1.0", "driver": "30"}, {"kit": "1.5", "driver": "1"}, {"kit": "?", "driver": "1"}],
)
def test_what_nobody_lists_is_unknown(found: dict[str, str]) -> None:
    assert state(ROWS, **found) is PairState.UNKNOWN


def test_a_driver_that_a_newer_kit_takes_is_not_too_old() -> None:
    assert state(ROWS, kit="2.0", driver="20.0") is PairState.UNKNOWN
    assert state(ROWS, kit="2.0", driver="19") is PairState.TOO_OLD


def test_what_was_not_found_is_not_judged() -> None:
    assert judge_pair(ROWS, {"kit": "1.0"}, "kit", "driver") is None


def test_both_ways_the_older_of_two_lines_is_named() -> None:
    rows = [row(lib="1.0", kit="5", torch="2"), row(lib="1.0.post1", kit="6", torch="2")]
    found = {"lib": "1.0", "kit": "6", "torch": "2"}
    verdict = judge_pair(rows, found, "lib", "kit", both_ways=("torch",))
    assert verdict is not None
    assert (verdict.state, verdict.change) == (PairState.TOO_OLD, "lib")
    assert (verdict.wanted, verdict.partners) == (("1.0.post1",), ("5",))
    other = judge_pair(rows, {**found, "torch": "3"}, "lib", "kit", both_ways=("torch",))
    assert other is not None
    assert other.state is PairState.UNKNOWN


def test_what_is_needed_at_least_does_not_suffice() -> None:
    rows = [row(kit=">=1.0", driver=">=10", enough=False), row(kit="2.0", driver="20")]
    assert state(rows, kit="1.5", driver="12") is PairState.UNKNOWN
    assert state(rows, kit="1.5", driver="9") is PairState.TOO_OLD
    assert state(rows, kit="2.0", driver="12") is PairState.TOO_OLD


def test_of_what_was_merely_seen_only_a_bound_refuses() -> None:
    rows = [
        row(kit="1.0", driver="10", measured=True),
        row(kit="2.0", driver=">=20", measured=True),
    ]
    assert state(rows, kit="1.0", driver="9") is PairState.UNKNOWN
    assert state(rows, kit="2.0", driver="19") is PairState.TOO_OLD


def test_general_knowledge_never_refuses() -> None:
    assert state([row(HEARSAY, kit="1.0", driver="10")], kit="1.0", driver="9") is PairState.UNKNOWN
    excluded = Exclusion(component="kit", versions=("*",), axis="soc", names=("x",), source=HEARSAY)
    assert judge_exclusions([excluded], {"kit": "1", "soc": "x"}) == ()


def test_a_row_for_some_chips_says_nothing_of_others() -> None:
    rows = [row(kit="1.0", driver=">=10", only={"soc": ("*b1",)})]
    assert state(rows, kit="1.0", driver="9", soc="AcmeB1") is PairState.TOO_OLD
    assert state(rows, kit="1.0", driver="9", soc="AcmeB2") is PairState.UNKNOWN
    assert state(rows, kit="1.0", driver="9") is PairState.UNKNOWN


def test_an_excluded_chip_is_named_with_what_runs_on_it() -> None:
    excluded = Exclusion(
        component="kit",
        versions=(">=3",),
        axis="soc",
        names=("old*",),
        instead=("<3",),
        source=SOURCE,
    )
    [verdict] = judge_exclusions([excluded], {"kit": "3.1", "soc": "Old7"})
    assert (verdict.state, verdict.change) == (PairState.MISMATCH, "kit")
    assert verdict.wanted == ("<3",)
    assert judge_exclusions([excluded], {"kit": "2.9", "soc": "old7"}) == ()
    assert judge_exclusions([excluded], {"kit": "3.1", "soc": "new"}) == ()


@given(st.text(), st.text())
def test_any_texts_are_judged(kit: str, driver: str) -> None:
    assert state(ROWS, kit=kit, driver=driver) in PairState
