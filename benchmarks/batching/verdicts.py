"""Ours against the targets: a ratio of medians of one run, and whether it is enough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.batching.contenders import FLOOR, IDEAL, OURS
from benchmarks.batching.rounds import Row
from benchmarks.batching.workloads import Target, Workload


@dataclass(frozen=True)
class Verdict:
    """One target, and what was seen.

    Attributes:
        workload: Its name.
        target: What is wanted.
        ours: Our figure, at our best setting; none where it was not measured.
        rival: Whose figure it is compared with, or "".
        theirs: That figure.
        ratio: Ours over theirs, or ours where nobody is compared with.
    """

    workload: str
    target: Target
    ours: float | None
    rival: str
    theirs: float | None
    ratio: float | None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; none where there is nothing to tell it from."""
        if self.ratio is None or self.target.bound is None:
            return None
        if self.target.less_is_better:
            return self.ratio <= self.target.bound
        return self.ratio >= self.target.bound


def _best(rows: Iterable[Row], target: Target) -> tuple[str, float] | None:
    figures = [
        (f"{row.contender} ({row.setting})", value)
        for row in rows
        if (value := getattr(row.median, target.figure)) is not None
    ]
    if not figures:
        return None
    choose = min if target.less_is_better else max
    return choose(figures, key=lambda one: one[1])


def _rivals(rows: Sequence[Row], target: Target) -> list[Row]:
    if target.against == "none":
        return []
    if target.against in (IDEAL, FLOOR):
        return [row for row in rows if row.contender == target.against]
    on_loop = target.against == "peers on the loop"
    peers = [
        row for row in rows if row.contender not in (OURS, IDEAL, FLOOR) and row.on_loop == on_loop
    ]
    if target.against == "FIFO peers":
        return [row for row in peers if not row.knows_lengths]
    return peers


def verdicts(workload: Workload, rows: Sequence[Row]) -> list[Verdict]:
    """One verdict for each target of the workload."""
    found = []
    for target in workload.targets:
        ours = _best([row for row in rows if row.contender == OURS], target)
        rival = _best(_rivals(rows, target), target)
        mine = ours[1] if ours else None
        ratio: float | None = None
        if target.against == "none":
            ratio = mine
        elif mine is not None and rival is not None:
            ratio = mine / rival[1]
        name, theirs = rival or ("", None)
        found.append(Verdict(workload.name, target, mine, name, theirs, ratio))
    return found
