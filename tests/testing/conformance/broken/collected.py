"""The suites of broken backends, for a pytest run of their own: most of them must fail."""

import os

from testing.conformance.broken import execution, facts, masks, quantities, repetition
from testing.conformance.broken.backend import BROKEN

assert execution
assert facts
assert masks
assert quantities
assert repetition

CHOICE = "BROKEN_BACKENDS"
"""Comma-separated names: the backends of this run."""

globals().update({f"Test{name}": BROKEN[name] for name in os.environ[CHOICE].split(",")})
