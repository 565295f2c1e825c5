"""What the conformance suite must know of the simulated stack: which rules it cannot answer."""

from __future__ import annotations

_NO_COLLECTIVES = "NCCL is a part of CUDA builds of torch, and runs on boards alone"


class StandIn:
    """Overrides of `accelhal.testing.suite.SuiteBase`."""

    not_judged = {  # noqa: RUF012  (the suite's own annotation is a ClassVar)
        "test_elapsed_time_is_in_milliseconds": "simulated time is not the host's",
        "test_collective_library_is_known": _NO_COLLECTIVES,
        "test_all_reduce_sums_over_processes": _NO_COLLECTIVES,
    }
