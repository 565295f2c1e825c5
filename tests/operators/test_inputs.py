"""Inputs written as text."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, strategies as st

from accelhal.errors import UsageError
from accelhal.operators.inputs import DTYPES, MAX_ELEMENTS, InputSpec, make_input, parse_input

SPECS = st.builds(
    InputSpec,
    st.sampled_from(DTYPES),
    st.lists(st.integers(0, 9), max_size=6).map(tuple),
    st.none() | st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,9}", fullmatch=True),
)


@given(SPECS)
def test_what_is_written_is_read_again(spec: InputSpec) -> None:
    assert parse_input(str(spec)) == spec


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        spec = parse_input(text)
    except UsageError:
        return
    assert spec.dtype in DTYPES


@given(SPECS, st.sampled_from([" {} ", "{}\n"]))
def test_space_around_is_no_matter(spec: InputSpec, form: str) -> None:
    assert parse_input(form.format(spec)) == spec


def test_spaces_between_sizes() -> None:
    assert parse_input("x=float32[ 2, 3 ]") == InputSpec("float32", (2, 3), "x")


@pytest.mark.parametrize(
    "text",
    ["", "float32", "[2]", "float32[2", "float32[-1]", "float32[2,]", "float32[a]", "1x=int64[2]"],
)
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not an input"):
        parse_input(text)


def test_an_unknown_element_type_is_guessed_at() -> None:
    with pytest.raises(UsageError, match="did you mean 'float32'"):
        parse_input("flaot32[2]")


@pytest.mark.parametrize("sizes", [f"{MAX_ELEMENTS + 1}", "99999,99999,99999", "9" * 5000])
def test_sizes_without_sense_are_refused(sizes: str) -> None:
    with pytest.raises(UsageError, match="elements"):
        parse_input(f"float32[{sizes}]")


def test_an_input_larger_than_the_memory_is_refused() -> None:
    with pytest.raises(UsageError, match=r"int8\[1099511627776\] cannot be made: .*memory"):
        make_input(InputSpec("int8", (MAX_ELEMENTS,)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_are_made(dtype: str) -> None:
    tensor = make_input(InputSpec(dtype, (2, 3)))
    assert tensor.shape == (2, 3)
    assert tensor.dtype is getattr(torch, dtype)
    if not (tensor.is_floating_point() or tensor.is_complex()):
        assert bool((tensor == 1).all())
