"""Profiles: real boards by name, users' own, and what is wrong with a wrong one."""

from __future__ import annotations

import json
import sys
from dataclasses import fields

import pytest
from accelhal_mock.profiles import BoardProfile, Pcie, load_profile, profile_names
from accelhal_mock.profiles.neutral import NEUTRAL
from hypothesis import given, strategies as st

from accelhal.errors import UsageError
from accelhal.facts.byte_size import parse_size

OWN = {
    "name": "mine",
    "memory": "2GiB",
    "bandwidth": 100e9,
    "peak_rates": {"float32": 1e12, "float16": 2e12},
}


@pytest.mark.parametrize("name", profile_names())
def test_every_named_profile_is_whole(name):
    profile = load_profile(name)
    assert profile.name == name
    assert profile.memory > 0
    assert profile.bandwidth > 0
    assert min(profile.peak_rates.values()) > 0
    assert 0 < profile.power_idle < profile.power_limit
    assert profile.thermals.idle < profile.thermals.full_load < profile.thermals.slowdown
    assert profile.sources
    names = {field.name for field in fields(BoardProfile)}
    for marked in (*profile.assumed, *profile.unverified):
        assert marked.partition(".")[0] in names


PROMISED = """
a100-80g a100-40g h100 h200 910b 910b1 910b2 910b3 910b4 310p mlu370-x8 mlu370-x4 mlu590
l40s t4 rtx-4090
"""


@pytest.mark.parametrize("name", PROMISED.split())
def test_the_promised_names_are_there(name):
    assert load_profile(name.upper()).name == name


def test_published_figures_are_taken_over():
    profile = load_profile("a100-80g")
    assert profile.memory == 80 << 30
    assert profile.bandwidth == 2039e9
    assert profile.rate("float32") == 19.5e12
    assert profile.rate("tfloat32") == 156e12
    assert profile.power_limit == 400
    assert profile.link.kind == "NVLink"
    assert profile.link.bandwidth == 300e9
    assert profile.arch == "sm_80"
    assert "pcie" in profile.unverified


def test_faster_boards_are_faster():
    assert load_profile("h100").rate("bfloat16") > load_profile("a100-80g").rate("bfloat16")
    assert load_profile("h200").bandwidth > load_profile("h100").bandwidth
    assert load_profile("t4").rate("float16") < load_profile("a100-40g").rate("float16")


def test_unknown_figures_are_neutral_and_marked():
    profile = load_profile("mlu590")
    assert profile.memory == NEUTRAL.memory
    assert {"memory", "bandwidth", "peak_rates", "power_limit", "launch_cost"} <= profile.assumed
    assert "memory" not in load_profile("h100").assumed


def test_a_type_without_units_runs_at_the_slowest_known_rate():
    t4 = load_profile("t4")
    assert "bfloat16" in t4.unsupported
    assert t4.rate("bfloat16") == t4.rate("float64") == t4.rate("float32")


def test_slices_fit_their_board():
    for name in profile_names():
        profile = load_profile(name)
        for part in profile.slices:
            assert part.memory <= profile.memory
            assert 0 < part.compute_share <= 1


@pytest.mark.parametrize(("generation", "gigabytes"), [(1, 4.0), (3, 15.75), (4, 31.5), (5, 63.0)])
def test_pcie_rates_are_those_of_the_specification(generation, gigabytes):
    assert Pcie(generation=generation, lanes=16).bandwidth() == pytest.approx(
        gigabytes * 1e9, rel=1e-3
    )


def test_an_unknown_name_gives_the_nearest_and_the_list():
    with pytest.raises(UsageError, match=r"no profile 'a100-80'(?s:.*)did you mean 'a100-80g'"):
        load_profile("a100-80")


def test_a_users_profile_needs_four_fields():
    profile = load_profile(OWN)
    assert profile.memory == 2 << 30
    assert profile.rate("int8") == 1e12
    assert profile.product == "mine"
    assert {"launch_cost", "thermals", "pcie"} <= profile.assumed


def test_a_users_profile_sets_every_part():
    profile = load_profile(
        {
            **OWN,
            "vendor": "Example",
            "product": "Example One",
            "unsupported": ["bfloat16"],
            "launch_cost": 1e-6,
            "power_idle": 10,
            "power_limit": 100,
            "thermals": {"idle": 20, "full_load": 60, "slowdown": 80, "time_constant": 10},
            "core_clock": 1000,
            "memory_clock": 2000,
            "pcie": {"generation": 3, "lanes": 8},
            "link": {"kind": "ExampleLink", "bandwidth": 50e9},
            "numa_nodes": 1,
            "compute_units": 4,
            "arch": "ex_1",
            "slices": [{"name": "half", "memory": "1GiB", "compute_share": 0.5}],
        }
    )
    assert profile.assumed == frozenset()
    assert profile.slices[0].memory == 1 << 30
    assert profile.pcie.lanes == 8


@pytest.mark.parametrize("missing", ["name", "memory", "bandwidth", "peak_rates"])
def test_a_missing_field_is_named(missing):
    with pytest.raises(UsageError, match=f"lacks the field '{missing}'(?s:.*)required:"):
        load_profile({name: value for name, value in OWN.items() if name != missing})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"bandwith": 1e9}, "no field 'bandwith'(?s:.*)did you mean 'bandwidth'"),
        ({"memory": 0}, "memory=0 is not an amount"),
        ({"memory": "much"}, "memory='much' is not an amount"),
        ({"bandwidth": -1}, "'bandwidth' must be a number above 0"),
        ({"bandwidth": True}, "'bandwidth' must be a number above 0"),
        ({"peak_rates": {}}, "'peak_rates' must be a table"),
        ({"peak_rates": {"float32": "fast"}}, "'peak_rates.float32' must be a number"),
        ({"thermals": {"idle": 20}}, "lacks the field 'thermals.full_load'"),
        ({"pcie": {"generation": 4, "lanes": 16, "slots": 1}}, "no field 'pcie.slots'"),
        ({"pcie": {"generation": 4.5, "lanes": 16}}, "'pcie.generation' must be a whole number"),
        ({"slices": [{"name": "half"}]}, r"lacks the field 'slices\[0\].memory'"),
        ({"slices": "half"}, "'slices' must be a list"),
        ({"link": "fast"}, "'link' must be a table"),
        ({"unsupported": "bfloat16"}, "'unsupported' must be a list"),
        ({"name": ""}, "'name' must be a text"),
        ({"power_idle": 500}, "'power_idle' is above 'power_limit'"),
    ],
)
def test_a_wrong_field_is_named_with_the_next_step(change, says):
    with pytest.raises(UsageError, match=says) as caught:
        load_profile({**OWN, **change})
    assert caught.value.hint


def test_profiles_are_read_from_files(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(OWN))
    assert load_profile(path) == load_profile(str(path))
    assert load_profile(path).memory == 2 << 30


@pytest.mark.skipif(sys.version_info < (3, 11), reason="TOML is read by tomllib of Python 3.11")
def test_profiles_are_read_from_toml(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\nmemory = "2GiB"\nbandwidth = 100e9\n[peak_rates]\nfloat32 = 1e12\n'
    )
    assert load_profile(path).rate("float32") == 1e12


@pytest.mark.parametrize(
    ("content", "says"),
    [("{", "cannot be parsed"), ("[]", "holds no table"), (None, "cannot be read: No such file")],
)
def test_a_wrong_file_is_named(tmp_path, content, says):
    path = tmp_path / "mine.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match=says) as caught:
        load_profile(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "nbytes"),
    [("64MiB", 64 << 20), ("1.5 GiB", 3 << 29), ("2gb", 2 * 10**9), ("512", 512), (7, 7)],
)
def test_sizes_are_read(text, nbytes):
    assert parse_size(text) == nbytes


@pytest.mark.parametrize("text", ["", "0", 0, -1, "-1MiB", "64XiB", "MiB", None, True, 1.5, "0.2B"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(UsageError, match="is not an amount of memory"):
        parse_size(text)


@given(st.integers(1, 2**50), st.sampled_from(["", "B", "KiB", "MiB", "GiB"]))
def test_whole_amounts_are_exact(number, unit):
    factor = 1024 ** ("", "B", "KiB", "MiB", "GiB").index(unit) // (1024 if unit else 1)
    assert parse_size(f"{number}{unit}") == number * factor
