"""The faults of one board over time: which strike at an operation, and which stand now."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator

from accelhal_mock.simulation.faults.catalogue import Fault, FaultKind
from accelhal_mock.simulation.faults.effects import BitFlip, LaunchEffects

_SLOWING = (FaultKind.SLOW, FaultKind.THERMAL_THROTTLE, FaultKind.POWER_CAP)


class _Armed:
    """A fault and its history.

    Attributes:
        seen: operations counted since it was injected.
        began: when the first operation after `after` came, on the machine's clock; None before.
        struck: whether a sticky one has struck.
        last: whether it struck at the latest operation.
    """

    def __init__(self, fault: Fault, now: float) -> None:
        self.fault = fault
        self.seen = 0
        self.began: float | None = now if fault.after == 0 else None
        # A lost board is lost at once; other sticky faults strike at a launch.
        certain = fault.after == 0 and fault.probability is None
        self.struck = fault.kind is FaultKind.LOST and certain
        self.last = False
        self._chance = random.Random(fault.seed)

    def strike(self, now: float) -> bool:
        """Count one operation, and say whether the fault hits it."""
        fault = self.fault
        self.seen += 1
        if self.began is None and self.seen > fault.after:
            self.began = now
        self.last = self._due(now, self.seen) and (
            fault.probability is None or self._chance.random() < fault.probability
        )
        if self.last and fault.traits.sticky:
            self.struck = True
        return self.last or self.struck

    def stands(self, now: float) -> bool:
        """Whether the fault is there, counting no operation.

        One of a given probability stands where it struck the latest operation.
        """
        if self.struck:
            return True
        if self.fault.traits.sticky:
            return False
        if self.fault.probability is not None:
            return self.last and self._due(now, self.seen)
        return self._due(now, self.seen + 1)

    def _due(self, now: float, operation: int) -> bool:
        fault = self.fault
        if operation <= fault.after:
            return False
        if fault.operations is not None and operation > fault.after + fault.operations:
            return False
        began = now if self.began is None else self.began
        return fault.seconds is None or now < began + fault.seconds

    def draw(self) -> int:
        """A seed for what is wrong with this result."""
        return self._chance.getrandbits(32)


class FaultSchedule:
    """The faults injected into one board.

    Attributes:
        corrected: corrected memory errors so far.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.corrected = 0
        self._now = now
        self._armed: list[_Armed] = []
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self._armed)

    def inject(self, fault: Fault) -> None:
        """Arm a fault."""
        with self._lock:
            self._armed.append(_Armed(fault, self._now()))

    def clear(self) -> None:
        """Forget all faults and their history."""
        with self._lock:
            self._armed.clear()
            self.corrected = 0

    def launch(self) -> LaunchEffects:
        """Count a launch, and say how it goes. Sticky faults that strike stand from then on."""
        now = self._now()
        slowdown, hangs, flip = 1.0, False, None
        with self._lock:
            for armed in self._counting("launches"):
                if not armed.strike(now):
                    continue
                kind = armed.fault.kind
                if kind in _SLOWING:
                    slowdown *= armed.fault.factor
                elif kind is FaultKind.HANG:
                    hangs = True
                elif kind is FaultKind.ECC_CORRECTED:
                    self.corrected += 1
                elif kind is FaultKind.WRONG_RESULT:
                    flip = BitFlip(armed.draw(), armed.fault.bit)
        return LaunchEffects(slowdown, hangs, flip)

    def allocate(self) -> bool:
        """Count an allocation, and say whether it is refused."""
        now = self._now()
        with self._lock:
            struck = [armed.strike(now) for armed in self._counting("allocations")]
        return any(struck)

    def standing(self, kind: FaultKind) -> Fault | None:
        """The latest fault of that kind that stands now, or None; counts no operation."""
        now = self._now()
        with self._lock:
            for armed in reversed(self._armed):
                if armed.fault.kind is kind and armed.stands(now):
                    return armed.fault
        return None

    def _counting(self, what: str) -> Iterator[_Armed]:
        return (armed for armed in self._armed if armed.fault.traits.counts == what)
