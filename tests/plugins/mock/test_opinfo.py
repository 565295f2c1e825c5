"""torch's own operator database on a board: results and gradients are the CPU's.

Each share runs in a process of its own: the database takes seconds to import, and a crash of one
operator must not end the session.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SHARDS = 3

EXPLAINED = {
    "sparse.mm.reduce": "boards hold dense tensors alone; the operand is sparse (CSR)",
    "sparse.sampled_addmm": "boards hold dense tensors alone; the operand is sparse (CSR)",
    "to_sparse": "boards hold dense tensors alone; the result is sparse",
}
"""Operators that are not alike, and why: each is refused with an error that says so."""


@pytest.mark.parametrize("shard", range(SHARDS))
def test_operators_are_alike_on_board_and_cpu(shard):
    script = Path(__file__).parent / "opinfo" / "compare.py"
    run = subprocess.run(
        [sys.executable, str(script), str(shard), str(SHARDS)],
        capture_output=True,
        text=True,
        timeout=280,
    )
    outcomes, details = {}, {}
    for line in run.stdout.splitlines():
        name, outcome, detail = json.loads(line)
        outcomes[name], details[name] = outcome, detail
    crashed = [name for name, outcome in outcomes.items() if outcome == "begin"]
    assert not crashed, f"{crashed} ended the process ({run.returncode}): {run.stderr[-2000:]}"
    assert run.returncode == 0, run.stderr[-2000:]
    assert len(outcomes) > 100
    failed = {name for name, outcome in outcomes.items() if outcome == "failed"}
    assert failed == EXPLAINED.keys() & outcomes.keys(), {name: details[name] for name in failed}
    assert all("dense tensors alone" in details[name] for name in failed)
