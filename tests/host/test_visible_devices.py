from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from accelhal.host.visible_devices import (
    IdentifierList,
    Mask,
    MaskProblem,
    Remainder,
    VisibleDevices,
    active_mask,
    explain,
    matched,
)

PLAIN = VisibleDevices("BOARDS")
STRICT = VisibleDevices("BOARDS", blanks=False, remainder=Remainder.ENDS, ascending=True)
LENIENT = VisibleDevices(
    "BOARDS",
    identifiers=(IdentifierList("ID-", "ID-"),),
    signs=True,
    remainder=Remainder.IGNORED,
)
GRAMMARS = (PLAIN, STRICT, LENIENT)

values = st.text(alphabet="0123456789,+- xID", max_size=14)


def problem(mask: Mask) -> MaskProblem | None:
    return mask.problem.problem if mask.problem else None


@pytest.mark.parametrize(
    ("grammar", "value", "entries", "expected"),
    [
        (PLAIN, "0,1", ("0", "1"), None),
        (PLAIN, " 1 , 0 ", ("1", "0"), None),
        (PLAIN, "007", ("7",), None),
        (PLAIN, "", (), None),
        (PLAIN, "   ", (), None),
        (PLAIN, "0,-1,1", ("0",), MaskProblem.NEGATIVE),
        (PLAIN, "-1", (), MaskProblem.NEGATIVE),
        (PLAIN, "0,,1", ("0",), MaskProblem.EMPTY_ENTRY),
        (PLAIN, "0,1x,2", ("0",), MaskProblem.NOT_A_DEVICE),
        (PLAIN, "+0", (), MaskProblem.NOT_A_DEVICE),
        (PLAIN, "1,0,1", (), MaskProblem.DUPLICATE),
        (STRICT, "0,2", ("0", "2"), None),
        (STRICT, "2,0", (), MaskProblem.NOT_ASCENDING),
        (STRICT, "1,1", (), MaskProblem.DUPLICATE),
        (STRICT, "0,1x,2", ("0", "1"), MaskProblem.NOT_A_DEVICE),
        (STRICT, "0, 1", ("0",), MaskProblem.NOT_A_DEVICE),
        (STRICT, " 0,1", (), MaskProblem.NOT_A_DEVICE),
        (LENIENT, "1x,+2,-0", ("1", "2", "0"), None),
        (LENIENT, "ID-a,ID-b", ("ID-a", "ID-b"), None),
        (LENIENT, "ID-a,ID-a", (), MaskProblem.DUPLICATE),
        (LENIENT, "ID-a,1", ("ID-a",), MaskProblem.MIXED),
        (LENIENT, "ID-a,", ("ID-a",), MaskProblem.EMPTY_ENTRY),
        (LENIENT, "ID-a, ID-b", ("ID-a",), MaskProblem.NOT_A_DEVICE),
        (LENIENT, "1,ID-a", ("1",), MaskProblem.MIXED),
    ],
)
def test_each_rule(
    grammar: VisibleDevices, value: str, entries: tuple[str, ...], expected: MaskProblem | None
) -> None:
    mask = grammar.parse(value)
    assert (mask.entries, problem(mask)) == (entries, expected)


@pytest.mark.parametrize(
    ("grammar", "value", "entries", "expected"),
    [
        (PLAIN, "1,5,0", ("1",), MaskProblem.OUT_OF_RANGE),
        (PLAIN, "4", (), MaskProblem.OUT_OF_RANGE),
        # A repetition counts even behind an entry that no board has...
        (PLAIN, "0,5,0", (), MaskProblem.DUPLICATE),
        # ...where order matters, reading ends at the first that no board has.
        (STRICT, "0,5,0", ("0",), MaskProblem.OUT_OF_RANGE),
        (STRICT, "1,0,5", (), MaskProblem.NOT_ASCENDING),
    ],
)
def test_the_number_of_boards_bounds_integers(
    grammar: VisibleDevices, value: str, entries: tuple[str, ...], expected: MaskProblem
) -> None:
    mask = grammar.parse(value, count=2)
    assert (mask.entries, problem(mask)) == (entries, expected)


@given(grammar=st.sampled_from(GRAMMARS), value=values, count=st.none() | st.integers(0, 8))
def test_any_text_reads_as_distinct_visible_entries(
    grammar: VisibleDevices, value: str, count: int | None
) -> None:
    mask = grammar.parse(value, count)
    assert len(set(mask.entries)) == len(mask.entries)
    numbers = [int(entry) for entry in mask.entries if entry.isdecimal()]
    assert count is None or all(number < count for number in numbers)
    if grammar.ascending:
        assert numbers == sorted(numbers)
    if not mask.entries and value.strip():
        assert mask.problem is not None, "an emptied list must say why"


@given(
    grammar=st.sampled_from(GRAMMARS),
    numbers=st.lists(st.integers(0, 20), unique=True, min_size=1).map(sorted),
)
def test_plain_ascending_lists_mean_the_same_everywhere(
    grammar: VisibleDevices, numbers: list[int]
) -> None:
    mask = grammar.parse(",".join(map(str, numbers)))
    assert mask.entries == tuple(map(str, numbers))
    assert mask.problem is None


@given(grammar=st.sampled_from(GRAMMARS), value=values)
def test_the_explanation_names_the_variable_and_value(grammar: VisibleDevices, value: str) -> None:
    text = explain(grammar.parse(value))
    assert text.startswith(f"BOARDS={value!r}: ")


@given(grammar=st.sampled_from(GRAMMARS), zeros=st.integers(0, 6000), nines=st.integers(0, 6000))
def test_thousands_of_digits_are_a_number_too(
    grammar: VisibleDevices, zeros: int, nines: int
) -> None:
    mask = grammar.parse("0" * zeros + "1" + "9" * nines, count=2)
    assert mask.entries == (("1",) if not nines else ())


def test_explanations_tell_emptied_from_shortened() -> None:
    assert explain(PLAIN.parse("0,0")).endswith("'0' is named twice, which hides every device")
    assert explain(PLAIN.parse("")).endswith("hides every device")
    assert explain(PLAIN.parse("1,0")).endswith("shows 1, 0")
    assert explain(PLAIN.parse("7", 2)).endswith("no device '7', and the list ends before it")


def test_the_first_variable_that_is_set_is_in_force_even_when_empty() -> None:
    variables = (VisibleDevices("FIRST"), VisibleDevices("SECOND"))
    assert active_mask(variables, {}) is None
    second = active_mask(variables, {"SECOND": "1"})
    assert second is not None
    assert (second.variable, second.entries) == ("SECOND", ("1",))
    first = active_mask(variables, {"FIRST": "", "SECOND": "1"})
    assert first is not None
    assert (first.variable, first.entries) == ("FIRST", ())


IDS = ["GPU-aa11", "GPU-aa22", "GPU-bb33", "MIG-aa11"]


@pytest.mark.parametrize(
    ("entries", "abbreviated", "found", "problem"),
    [
        (["GPU-bb33", "GPU-aa11"], False, ["GPU-bb33", "GPU-aa11"], None),
        (["GPU-b", "GPU-aa2"], True, ["GPU-bb33", "GPU-aa22"], None),
        (["GPU-b"], False, [], MaskProblem.UNKNOWN),
        (["GPU-b", "GPU-aa", "GPU-aa11"], True, ["GPU-bb33"], MaskProblem.AMBIGUOUS),
        (["GPU-b", "GPU-cc"], True, ["GPU-bb33"], MaskProblem.UNKNOWN),
        (["GPU-b", "GPU-bb"], True, [], MaskProblem.DUPLICATE),
    ],
)
def test_ids_are_looked_up_among_the_driver_s(
    entries: list[str], abbreviated: bool, found: list[str], problem: MaskProblem | None
) -> None:
    mask = matched(Mask("V", ",".join(entries), tuple(entries)), IDS, abbreviated=abbreviated)
    assert list(mask.entries) == found
    assert (mask.problem and mask.problem.problem) == problem
    assert explain(mask).startswith("V=")
