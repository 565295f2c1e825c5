"""The conformance suite on torch's own torch.cuda over simulated boards."""

from __future__ import annotations

import pytest
from vendor_stacks.cuda.conformance import run_suite
from vendor_stacks.cuda.settings import Settings


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_rule_that_can_run_passes(stack: Settings) -> None:
    document = run_suite(stack)
    assert not [rule for rule in document["rules"] if rule["outcome"] == "failed"]
    assert document["complete"]
    silent = {group["name"] for group in document["groups"] if not group["passed"]}
    assert silent == {"distributed"}
