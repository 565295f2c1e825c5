"""The suites of broken backends, for a pytest run of their own: most of them must fail."""

import os

from testing.conformance.broken import (
    events,
    execution,
    facts,
    indices,
    masks,
    memory_figures,
    quantities,
    repetition,
)
from testing.conformance.broken.backend import BROKEN

assert events
assert execution
assert facts
assert indices
assert masks
assert memory_figures
assert quantities
assert repetition

CHOICE = "BROKEN_BACKENDS"
"""Comma-separated names: the backends of this run."""

globals().update({f"Test{name}": BROKEN[name] for name in os.environ[CHOICE].split(",")})
