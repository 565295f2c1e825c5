"""accelhal's suite, with operators, on the stand-in in both of its forms.

`loading` and `health` are left out for their time: they meet no device. A run of all groups is one
command, which docs/vendor_stacks.md shows.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from vendor_stacks.mlu.standin import environment

DIFFERING = ("signatures", "capabilities", "events", "dtypes", "graphs")
"""Groups that meet what the forms have differently."""

UUIDS = "33033011-2157-0000-0000-000000000001,33033011-2157-0000-0000-000000000000"
"""The two boards of the host: with them in the variable, rules about UUIDs apply."""

ALL = (
    *DIFFERING,
    *("identity", "visible_devices", "current_device", "streams", "memory", "out_of_memory"),
    *("random_numbers", "processes", "distributed"),
)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("form", "groups", "variables"),
    [("1.25", ALL, {}), ("1.33", (*DIFFERING, "identity"), {"CN_VISIBLE_DEVICES": UUIDS})],
    ids=["1.25", "1.33"],
)
def test_the_standin_passes_the_suite(
    form: str, groups: tuple[str, ...], variables: dict[str, str], neuware: Path
) -> None:
    chosen = [part for group in groups for part in ("--group", group)]
    ended = subprocess.run(
        [sys.executable, "-m", "accelhal", "conformance", "mlu", "--json", *chosen],
        env=environment(neuware, MLU_STANDIN_FORM=form, **variables),
        capture_output=True,
        text=True,
        timeout=580,
    )
    document = json.loads(ended.stdout)
    assert [rule for rule in document["rules"] if rule["outcome"] == "failed"] == []
    assert (ended.returncode, document["complete"]) == (0, True)
    assert {group["name"] for group in document["groups"] if group["passed"]} == set(groups)
    assert not any(group["expected_failure"] for group in document["groups"])
