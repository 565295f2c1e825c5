"""Group: torch.distributed knows the backend's collective library, and it sums."""

from __future__ import annotations

from pathlib import Path

from accelhal.facade import Device
from accelhal.testing.suite.base import SuiteBase
from accelhal.testing.suite.requirements import not_applicable

_WORLD = 2


class Distributed(SuiteBase):
    """Collectives run in child processes, one for each rank."""

    def test_collective_library_is_known(self) -> None:
        """torch.distributed has the spec's distributed_backend once the backend is open."""
        known = self.run_child("collective_backends", backend=self.backend)
        name = self.spec.distributed_backend
        assert name in known, f"torch.distributed knows {', '.join(known)}, not {name}"

    def test_all_reduce_sums_over_processes(self, devices: list[Device], tmp_path: Path) -> None:
        """all_reduce over two processes gives both the sum; gloo takes it from the host."""
        library = self.spec.distributed_backend
        if library != "gloo" and len(devices) < _WORLD:
            not_applicable(f"{library} needs {_WORLD} devices")
        ranks = [
            self.start_child(
                "all_reduce",
                backend=self.backend,
                library=library,
                rank=rank,
                world=_WORLD,
                store=str(tmp_path / "store"),
            )
            for rank in range(_WORLD)
        ]
        found = [rank.result(self.child_limit_s) for rank in ranks]
        assert found == [[3.0] * 4] * _WORLD, f"1 + 2 became {found}"
