"""One board over a window of time: its samples, and who was on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from accelhal.facts import BoardReading, MemoryErrors, PcieLink, Telemetry

if TYPE_CHECKING:
    from accelhal.management.sampler import Sample  # its machinery takes long to import


@dataclass(frozen=True)
class BoardWindow:
    """What was seen of a board from the begin of --watch to its end.

    Attributes:
        reading: the board before.
        samples: oldest first.
        pids: processes that were on the board at both ends; None where the driver lists none.
        answers: whether it was asked once more after the window, and answered.
        seconds: that were asked for.
    """

    reading: BoardReading
    samples: tuple[Sample, ...]
    pids: frozenset[int] | None
    answers: bool
    seconds: float

    @property
    def telemetry(self) -> list[Telemetry]:
        """The samples in which the sensors answered."""
        return [s.telemetry for s in self.samples if is_answer(s)]

    @property
    def pcie(self) -> list[PcieLink]:
        """The samples of its link."""
        found = [sample.readings.get("pcie") for sample in self.samples]
        return [link for link in found if isinstance(link, PcieLink)]

    @property
    def memory_errors(self) -> list[MemoryErrors]:
        """The samples of its memory's errors."""
        found = [sample.readings.get("memory_errors") for sample in self.samples]
        return [errors for errors in found if isinstance(errors, MemoryErrors)]

    @property
    def covered_s(self) -> float:
        """Seconds from the first sample to the last, and the period after it."""
        times = [sample.time for sample in self.samples]
        if len(times) < 2:
            return 0.0
        return (times[-1] - times[0]) * len(times) / (len(times) - 1)

    def values(self, field: str) -> list[float]:
        """What the sensors showed in a field of Telemetry."""
        found = [getattr(telemetry, field) for telemetry in self.telemetry]
        return [float(value) for value in found if value is not None]

    def mean(self, field: str) -> float | None:
        """Of these values; None where there are none."""
        return mean(self.values(field))

    @property
    def power_share(self) -> float | None:
        """Mean power over the limit."""
        shares = [
            seen.power / seen.power_limit
            for seen in self.telemetry
            if seen.power is not None and seen.power_limit
        ]
        return mean(shares)

    @property
    def traffic(self) -> list[tuple[float, float]]:
        """Bytes a second from the host and to it."""
        return [
            (link.received, link.sent)
            for link in self.pcie
            if link.received is not None and link.sent is not None
        ]


def mean(values: Sequence[float]) -> float | None:
    """Their mean; None of nothing."""
    return fmean(values) if values else None


def is_answer(sample: Sample) -> bool:
    """Whether the driver answered for the board."""
    found = sample.readings.get("telemetry")
    return isinstance(found, Telemetry) and "*" not in found.reasons
