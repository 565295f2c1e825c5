"""Versions as vendors spell them: one order over all of them, and ranges in it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from accelhal.spi.versions import admits, is_below, is_version, release_numbers, version_key

PIECES = st.sampled_from(
    (
        *("0", "1", "04", "24", "535", "2025", ".", ".", "-", "_", " ", "+", "v", "x", ".*", ">="),
        *("rc", "RC1", "beta.3", "alpha001", "post", "dev", "Update 1", "GA", "git4c", "torch2"),
    )
)
SPELLINGS = st.one_of(st.text(max_size=20), st.lists(PIECES, max_size=8).map("".join))


@pytest.mark.parametrize(
    "ascending",
    [
        ("450.51.06", "450.80.02", "535.54.03", "535.104.05", "1000.1"),
        (
            "23.0.rc2",
            "23.0.rc2.3",
            "23.0.rc3",
            "23.0.2",
            "24.1.rc1",
            "24.1.RC3",
            "24.1",
            "24.1.0.1",
        ),
        ("8.0.RC3.beta1", "8.0.RC3", "8.0.0", "8.3.RC1", "8.3.RC2", "8.5.0.alpha001", "8.5"),
        ("9.1.0-beta.3", "9.1.0", "26.1.0"),
        ("2.1.0.rc1", "2.1.0", "2.1.0.post4", "2.1.0.post17", "2.1.1"),
        ("2.5.1", "2.5.1.post1.dev20250528", "2.5.1.post1.dev20250619", "2.5.1.post1"),
        ("2.7.1.dev20250724", "2.7.1", "2.7.1.post1"),
        ("4.20.11", "5.10.10", "5.10.22", "6.2.0-1", "6.2.10"),
        ("12.8", "12.8 Update 1", "12.9"),
        ("v0.9.1rc3", "v0.9.1", "v0.10.0rc1"),
    ],
)
def test_versions_stand_in_their_order(ascending: tuple[str, ...]) -> None:
    keys = [version_key(one) for one in ascending]
    assert all(earlier < later for earlier, later in pairwise(keys))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("24.1.rc1", "24.1.0.RC1"),
        ("8.5", "8.5.0"),
        ("2.13.0", "2.13.0+cu130"),
        ("6.2.0", "6.2.0-1"),
        ("1.22.2-torch2.1.0", "1.22.2"),
        ("v1.5.0", "1.5"),
        ("450.51.6", "450.51.06"),
        ("8.5.0.alpha001", "8.5.0-alpha.1"),
    ],
)
def test_what_means_one_release_is_equal(one: str, other: str) -> None:
    assert version_key(one) == version_key(other)


@given(SPELLINGS, SPELLINGS, SPELLINGS)
def test_any_texts_have_one_order(one: str, two: str, three: str) -> None:
    a, b, c = map(version_key, (one, two, three))
    assert (a < b) + (a == b) + (a > b) == 1
    assert not (a <= b <= c) or a <= c
    assert version_key(one) == a


@given(st.lists(st.integers(0, 10**30), min_size=1, max_size=5), st.integers(0, 4))
def test_numbers_count_as_numbers_of_any_size(numbers: list[int], place: int) -> None:
    later = list(numbers)
    later[place % len(numbers)] += 1
    assert version_key(".".join(map(str, numbers))) < version_key(".".join(map(str, later)))


@given(SPELLINGS, SPELLINGS)
def test_ranges_take_any_text(one: str, version: str) -> None:
    below, inside = is_below([one], version), admits([one], version)
    assert not (below and inside)
    assert admits(["*"], version)
    assert not is_below([], version)


@given(SPELLINGS, SPELLINGS)
def test_bounds_agree_with_the_order(bound: str, version: str) -> None:
    bound = bound.replace(",", "").strip()
    assert admits([f">={bound}"], version) == (version_key(version) >= version_key(bound))
    assert is_below([f">={bound}"], version) == (version_key(version) < version_key(bound))
    assert not is_below([f"<{bound}"], version)


@pytest.mark.parametrize(
    ("ranges", "inside", "below", "above"),
    [
        ((">=525.60.13",), ["525.60.13", "580"], ["525.53", "470.82.01"], []),
        (("25.0.*", "25.2.*"), ["25.0.RC1", "25.2.1"], ["24.1.0"], ["25.3.RC1", "26"]),
        ((">=3.10, <3.13",), ["3.10.2", "3.12"], ["3.9.20"], ["3.13.0", "3.14"]),
        (("8.3.RC2",), ["8.3.rc2"], ["8.3.RC1"], ["8.3.0"]),
        ((">2.0",), ["2.0.1"], ["2.0", "1"], []),
    ],
)
def test_a_range_says_what_lies_in_it_and_before_it(
    ranges: tuple[str, ...], inside: list[str], below: list[str], above: list[str]
) -> None:
    for version in (*inside, *below, *above):
        assert admits(ranges, version) == (version in inside)
        assert is_below(ranges, version) == (version in below)


def test_a_text_without_a_number_is_no_version() -> None:
    assert not any(map(is_version, ("", "N/A", "unknown", "v", " ")))
    assert all(map(is_version, ("535.54.03", "v1", "8.3.RC2")))
    assert release_numbers("8.3.RC2") == (8, 3)
    assert release_numbers("N/A") == ()
