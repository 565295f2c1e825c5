"""What a job needs of its boards, and the needs of common jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from accelhal.errors import UsageError
from accelhal.facts import Relation


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What is asked for. None, and empty: no matter.

    Attributes:
        count: boards, all of one backend.
        memory: bytes free on each.
        dtype: element type that each computes in ("bfloat16").
        throughput: operations a second in that type, nominal, of all together.
        apart: how far the farthest two may be.
        backends: the backends to take boards of.
        not_backends: those to take none of.
        countries: ISO 3166 codes of the seats of vendors to take boards of.
        idle: whether boards that a process holds are out of the question.
        simulated: whether simulated boards count.

    Raises:
        UsageError: a need that no board could meet, or that says nothing.
    """

    count: int = 1
    memory: int | None = None
    dtype: str | None = None
    throughput: float | None = None
    apart: Relation | None = None
    backends: tuple[str, ...] = ()
    not_backends: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    idle: bool = False
    simulated: bool = False

    def __post_init__(self) -> None:
        if self.count < 1:
            raise _refused(f"count={self.count} asks for no board", "ask for at least one")
        if self.throughput is not None and self.dtype is None:
            raise _refused("throughput says nothing without a dtype", "name the dtype too")
        both = set(self.backends) & set(self.not_backends)
        if both:
            raise _refused(f"{min(both)} is both wanted and refused", "name it once")


PRESETS: Mapping[str, tuple[Needs, str]] = {
    "quick": (
        Needs(idle=True),
        "one board that nobody uses, to try something out: whatever is free, the largest first",
    ),
    "domestic": (
        Needs(countries=("CN",)),
        "boards of Chinese vendors alone, where rules of procurement ask for them; --country names "
        "another country",
    ),
    "linked": (
        Needs(count=8, apart=Relation.LINK),
        "eight boards with links of their own between each two, for a model split among them",
    ),
}
"""Name -> needs, and when to take them."""


def _refused(reason: str, hint: str) -> UsageError:
    return UsageError(reason, operation="select", hint=hint)
