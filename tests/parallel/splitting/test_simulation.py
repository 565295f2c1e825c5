"""Policies in simulated time: what each makes of unequal devices; auto is never far off."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from accelhal.parallel.splitting.simulation import Scenario, efficiency, pull_efficiency

CHEAP = {"launch": 0.25, "half": 0.0}
DEAR = {"launch": 1.0, "half": 4.0}
HALF, NEAR = {"speeds": (1, 0.5)}, {"speeds": (1, 0.8)}

ROWS = {
    "1:0.5 cheap, 2 %": (Scenario(**HALF, **CHEAP), 0.93),
    "1:0.5 cheap, 10 %": (Scenario(**HALF, **CHEAP, sigma=0.1), 0.93),
    "1:0.5 cheap, slow third": (Scenario(**HALF, **CHEAP, sigma=0.05, slowdown=0.7), 0.93),
    "1:0.5 cheap, wrong profile": (Scenario(**HALF, **CHEAP, sigma=0.05, profile=(1, 0.65)), 0.93),
    "1:0.5 dear, 2 %": (Scenario(**HALF, **DEAR), 0.93),
    "1:0.5 dear, 10 %": (Scenario(**HALF, **DEAR, sigma=0.1), 0.88),
    "1:0.5 dear, wrong profile": (Scenario(**HALF, **DEAR, sigma=0.05, profile=(1, 0.65)), 0.93),
    "1:0.8 cheap, 10 %": (Scenario(**NEAR, **CHEAP, sigma=0.1), 0.93),
    "1:0.8 dear, 10 %": (Scenario(**NEAR, **DEAR, sigma=0.1), 0.88),
    "1:0.8 dear, wrong profile": (Scenario(**NEAR, **DEAR, sigma=0.05, profile=(1, 1.04)), 0.93),
}


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("seed", range(2))
def test_auto_reaches_the_sum_of_the_devices(row, seed):
    scenario, least = ROWS[row]
    seeded = Scenario(**{**vars(scenario), "seed": seed})
    assert efficiency(seeded, "auto") >= least


@pytest.mark.parametrize(
    ("policy", "expected"), [("equal", 0.667), ("weighted", 0.984), ("ewma", 0.981)]
)
def test_the_model_gives_what_the_ratio_says(policy, expected):
    scenario = ROWS["1:0.5 cheap, 2 %"][0]
    assert efficiency(scenario, policy) == pytest.approx(expected, abs=0.01)


def test_feedback_is_worth_more_than_a_profile():
    for row in ("1:0.5 dear, wrong profile", "1:0.8 dear, wrong profile"):
        scenario = ROWS[row][0]
        assert efficiency(scenario, "ewma") > efficiency(scenario, "weighted") + 0.05


def test_guided_pays_where_launches_are_cheap_alone():
    cheap, dear = ROWS["1:0.5 cheap, 10 %"][0], ROWS["1:0.5 dear, 2 %"][0]
    assert efficiency(cheap, "guided") > efficiency(cheap, "ewma") + 0.05
    assert efficiency(dear, "guided") < efficiency(dear, "ewma") - 0.02


@pytest.mark.parametrize("speeds", [(1, 0.5), (1, 0.8), (1, 0.3, 0.6)])
def test_without_a_barrier_pulling_whole_batches_needs_no_profile(speeds):
    assert pull_efficiency(Scenario(speeds=speeds, sigma=0.1)) > 0.975


def test_the_same_seed_gives_the_same_time():
    scenario = Scenario(sigma=0.1, seed=7, steps=20)
    assert efficiency(scenario, "auto") == efficiency(scenario, "auto")
    assert efficiency(scenario, "auto") != efficiency(Scenario(sigma=0.1, seed=8, steps=20), "auto")


@settings(max_examples=30)
@given(
    slower=st.floats(0.3, 1.0),
    error=st.floats(0.7, 1.3),
    sigma=st.floats(0.0, 0.05),
    costs=st.sampled_from([CHEAP, DEAR]),
    slowdown=st.floats(0.7, 1.0),
    seed=st.integers(0, 2**32),
)
def test_auto_holds_for_other_devices_jitters_and_seeds(
    slower, error, sigma, costs, slowdown, seed
):
    scenario = Scenario(
        speeds=(1.0, slower), profile=(1.0, slower * error), sigma=sigma, slowdown=slowdown,
        seed=seed, steps=100, **costs,
    )  # fmt: skip
    assert efficiency(scenario, "auto") >= (0.92 if costs is DEAR else 0.93)


@settings(max_examples=15)
@given(
    speeds=st.lists(st.floats(0.3, 1.0), min_size=2, max_size=4),
    sigma=st.floats(0.0, 0.1),
    launch=st.floats(0.0, 4.0),
    seed=st.integers(0, 2**32),
)
def test_auto_is_never_far_from_the_better_of_two_policies(speeds, sigma, launch, seed):
    scenario = Scenario(
        speeds=speeds, launch=launch, sigma=sigma, seed=seed, steps=100, rows=128 * len(speeds)
    )
    best = max(efficiency(scenario, policy) for policy in ("ewma", "weighted"))
    assert efficiency(scenario, "auto") >= best - 0.02
