"""What a check of a model found, as frozen facts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from accelhal.operators.coverage import Coverage
from accelhal.operators.places import Place
from accelhal.operators.recorder import Noted, Phase
from accelhal.operators.trace import Trace
from accelhal.operators.trace_on import TraceOn

GRAVITY = (
    Coverage.MISSING,
    Coverage.FALLS_BACK,
    Coverage.UNKNOWN,
    Coverage.COMPOSITE,
    Coverage.NATIVE,
)
"""What a reader wants to see first."""


class Verdict(str, Enum):
    """Whether the model runs on the device."""

    RUNS = "runs"
    LACKS_OPERATORS = "lacks_operators"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class OperatorUse:
    """One operator of the model.

    Attributes:
        name: as torch's dispatcher calls it ("aten::add.Tensor").
        phase: the pass in which it was met.
        coverage: how the backend runs it.
        reason: what else is known of that; may be empty.
        calls: how often it was called.
        operands: types and shapes of the tensors of the first call.
        dtypes: element types of its tensors, in all calls.
        places: where it was called first, at most three.
        time_ms: time in its kernel, where the trace ran with values; None for what is made of other
            operators.
    """

    name: str
    phase: Phase
    coverage: Coverage
    reason: str
    calls: int
    operands: tuple[str, ...]
    dtypes: tuple[str, ...]
    places: tuple[Place, ...]
    time_ms: float | None

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "name": self.name,
            "phase": self.phase.value,
            "coverage": self.coverage.value,
            "reason": self.reason,
            "calls": self.calls,
            "operands": list(self.operands),
            "dtypes": list(self.dtypes),
            "places": [{"source": place.source, "module": place.module} for place in self.places],
            "time_ms": self.time_ms,
        }


@dataclass(frozen=True)
class ModelCheck:
    """A model against a backend.

    Attributes:
        model: the factory's name.
        device: the device as it was asked for.
        trace: where the model ran while its operators were noted.
        torch_version: the torch that it ran with.
        source: where the knowledge of the backend's operators comes from.
        live: whether that is the dispatcher of this process, with the backend loaded.
        remark: what limits that knowledge; may be empty.
        ended_early: why the trace did not reach the model's end; None where it did.
        operators: gravest first, else in the order in which they were met.
    """

    model: str
    device: str
    trace: TraceOn
    torch_version: str
    source: str
    live: bool
    remark: str
    ended_early: str | None
    operators: tuple[OperatorUse, ...]

    @property
    def counts(self) -> dict[Coverage, int]:
        """Different operators by coverage, forward and backward apart."""
        found = Counter(use.coverage for use in self.operators)
        return {coverage: found[coverage] for coverage in GRAVITY}

    @property
    def verdict(self) -> Verdict:
        """One word that a script may act on."""
        counts = self.counts
        if counts[Coverage.MISSING] or counts[Coverage.FALLS_BACK]:
            return Verdict.LACKS_OPERATORS
        if counts[Coverage.UNKNOWN] or self.ended_early is not None or not self.operators:
            return Verdict.UNKNOWN
        return Verdict.RUNS

    @property
    def time_ms(self) -> float | None:
        """Time in all kernels; None where the trace had no values, or ended early."""
        times = [use.time_ms for use in self.operators if use.time_ms is not None]
        return sum(times) if times and self.ended_early is None else None

    @property
    def fallback_percent(self) -> float | None:
        """Share of `time_ms` in operators that fall back; None where it was not measured."""
        total = self.time_ms
        if not total:
            return None
        fallen = [
            use.time_ms or 0.0 for use in self.operators if use.coverage is Coverage.FALLS_BACK
        ]
        return 100.0 * sum(fallen) / total

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "model": self.model,
            "device": self.device,
            "verdict": self.verdict.value,
            "trace": self.trace.value,
            "torch_version": self.torch_version,
            "source": self.source,
            "live": self.live,
            "remark": self.remark,
            "ended_early": self.ended_early,
            "counts": {coverage.value: count for coverage, count in self.counts.items()},
            "time_ms": self.time_ms,
            "fallback_percent": self.fallback_percent,
            "operators": [use.as_dict() for use in self.operators],
        }


def operator_uses(trace: Trace) -> tuple[OperatorUse, ...]:
    """What the trace met, gravest first."""
    uses = [_use(phase, name, noted) for (phase, name), noted in trace.noted.items()]
    if trace.refused is not None:
        name, message = trace.refused
        uses = [_refused(use, message) if use.name == name else use for use in uses]
    return tuple(sorted(uses, key=lambda use: GRAVITY.index(use.coverage)))


def _use(phase: Phase, name: str, noted: Noted) -> OperatorUse:
    judgement = noted.judgement
    return OperatorUse(
        name,
        phase,
        judgement.coverage,
        judgement.reason,
        noted.calls,
        noted.operands,
        tuple(sorted(noted.dtypes)),
        tuple(noted.places),
        None if noted.seconds is None else noted.seconds * 1e3,
    )


def _refused(use: OperatorUse, message: str) -> OperatorUse:
    first_line = message.partition("\n")[0]
    return replace(use, coverage=Coverage.MISSING, reason=f"it raised {first_line}")
