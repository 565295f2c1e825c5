"""What the conformance suite must know of the simulated stack: which rules it cannot answer."""

from __future__ import annotations

from accelhal.testing.suite import not_applicable

NO_COLLECTIVES = "NCCL is a part of CUDA builds of torch, and runs on boards alone"


class StandIn:
    """Overrides of `accelhal.testing.suite.SuiteBase`."""

    def test_elapsed_time_is_in_milliseconds(self) -> None:
        """The device's time for work is not longer than the host's around it."""
        not_applicable("simulated time is not the host's")

    def test_collective_library_is_known(self) -> None:
        """torch.distributed has the spec's distributed_backend once the backend is open."""
        not_applicable(NO_COLLECTIVES)

    def test_all_reduce_sums_over_processes(self) -> None:
        """all_reduce over two processes gives both the sum; gloo takes it from the host."""
        not_applicable(NO_COLLECTIVES)
