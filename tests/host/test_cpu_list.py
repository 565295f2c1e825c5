from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from accelhal.host.cpu_list import format_cpu_list, parse_cpu_list


@given(st.sets(st.integers(0, 300), max_size=20))
def test_a_list_is_read_back(cpus: set[int]) -> None:
    assert parse_cpu_list(",".join(map(str, sorted(cpus)))) == tuple(sorted(cpus))
    assert parse_cpu_list(format_cpu_list(cpus)) == tuple(sorted(cpus))


@given(st.text(alphabet="0123456789-, \nx²", max_size=12))
def test_no_text_makes_it_raise(text: str) -> None:
    assert all(0 <= cpu < 10_000 for cpu in parse_cpu_list(text))


def test_ranges() -> None:
    assert format_cpu_list([3, 8, 0, 2, 1, 10, 11]) == "0-3,8,10-11"
    assert parse_cpu_list("0-3,8,10-11\n") == (0, 1, 2, 3, 8, 10, 11)


@pytest.mark.parametrize(
    "text", ["", "\n", "none", "0-3,x", "5-2", "5-2,8", "-1", "1-2-3", "9" * 5000]
)
def test_what_is_no_list_names_no_cpu(text: str) -> None:
    assert parse_cpu_list(text) == ()
