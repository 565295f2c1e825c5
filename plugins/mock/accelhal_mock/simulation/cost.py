"""How long work takes: the roofline of a board's profile.

A kernel takes its launch and the longer of moving its bytes and computing its operations
(Williams, Waterman, Patterson, "Roofline", CACM 2009).
"""

from __future__ import annotations

from accelhal_mock.profiles.profile import BoardProfile


class CostModel:
    """Seconds of work on one board, from its profile."""

    __slots__ = ("_byte", "_launch", "_operation", "_profile")

    def __init__(self, profile: BoardProfile) -> None:
        self._profile = profile
        self._launch = profile.launch_cost
        self._byte = 1.0 / profile.bandwidth
        self._operation: dict[str, float] = {}

    @property
    def launch(self) -> float:
        """The part of every launch that does not depend on its work."""
        return self._launch

    def kernel(self, nbytes: int, operations: float = 0.0, dtype: str = "float32") -> float:
        """A kernel that moves `nbytes` in the board's memory and computes `operations`."""
        moving = nbytes * self._byte
        if operations:
            per_operation = self._operation.get(dtype)
            if per_operation is None:
                per_operation = self._operation[dtype] = 1.0 / self._profile.rate(dtype)
            computing = operations * per_operation
            if computing > moving:
                return self._launch + computing
        return self._launch + moving

    def host_copy(self, nbytes: int, lanes: int | None = None) -> float:
        """A copy between the host and the board, over `lanes` PCIe lanes (all when None)."""
        return self._launch + nbytes / self._profile.pcie.bandwidth(lanes)

    def peer_copy(self, nbytes: int, other: BoardProfile) -> float:
        """A copy to another board: over their link, or through the host where they have none.

        Through the host both halves run at once, piece by piece; the slower one counts.
        """
        mine, theirs = self._profile.link, other.link
        if mine is not None and theirs is not None and mine.kind == theirs.kind:
            rate = min(mine.bandwidth, theirs.bandwidth)
        else:
            rate = min(self._profile.pcie.bandwidth(), other.pcie.bandwidth())
        return self._launch + nbytes / rate
