"""Which boards a build's code runs on."""

from __future__ import annotations

import pytest
from accelhal_cuda.architectures import arch_name, architecture, rule_for
from hypothesis import given, strategies as st


@pytest.mark.parametrize(
    ("board", "code", "rule"),
    [
        ("8.6", ["sm_80"], "compiled"),
        ("sm_89", ["sm_80", "sm_86"], "compiled"),
        ("sm_80", ["sm_86"], "no_code"),
        ("sm_90", ["sm_80", "sm_86"], "no_code"),
        ("sm_90", ["sm_80", "compute_80"], "portable"),
        ("12.0", ["sm_90", "compute_90"], "portable"),
        ("12.0", ["sm_50", "sm_90"], "no_code"),
        ("12.1", ["sm_120"], "compiled"),
        ("6.1", ["sm_50", "sm_60", "sm_70"], "compiled"),
        ("6.1", ["sm_75", "compute_75"], "no_code"),
        ("9.0", ["sm_90a"], "compiled"),
        ("10.3", ["sm_100a"], "no_code"),
        ("10.3", ["sm_100f"], "compiled"),
        ("12.0", ["sm_100f", "compute_100a"], "no_code"),
        ("gfx90a", ["sm_90"], None),
        ("8.6", [], None),
        ("8.6", ["gfx942"], None),
    ],
)
def test_code_runs_where_the_programming_guide_says(
    board: str, code: list[str], rule: str | None
) -> None:
    assert rule_for(board, code) == rule


@given(st.text(), st.lists(st.text()))
def test_any_names_are_judged(board: str, code: list[str]) -> None:
    rule_for(board, code)
    assert architecture(arch_name(board)) == architecture(board)


@given(st.integers(1, 20), st.integers(0, 9))
def test_a_board_runs_the_code_made_for_it(major: int, minor: int) -> None:
    assert rule_for(f"{major}.{minor}", [f"sm_{major}{minor}"]) == "compiled"
    assert rule_for(f"{major}.{minor}", [f"compute_{major}{minor}"]) == "portable"
