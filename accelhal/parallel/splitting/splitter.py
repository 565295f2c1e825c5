"""BatchSplitter: how many rows of a batch each device gets, learned from how long they take."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, Literal, get_args

from accelhal.errors import DeviceLostError, UsageError
from accelhal.parallel.splitting.apportionment import apportion
from accelhal.parallel.splitting.pace import Pace
from accelhal.parallel.splitting.parts import Part, Parts, Reduction
from accelhal.parallel.splitting.pieces import PIECE_OVER_LAUNCH, Manner, Pieces, Worker
from accelhal.parallel.splitting.rows import cut, rows_of
from accelhal.parallel.splitting.speeds import relative_speed

Policy = Literal["equal", "weighted", "ewma", "guided", "pull", "auto"]

GUIDED_BELOW = 0.25
"""A launch's share of a step, over the spread of the steps, below which "auto" takes guided.

What guided gains grows with the jitter, what it loses with its launches. Measured by `simulation`,
two to four devices: both are alike where a launch costs 0.45 to 0.6 % of the step and jitter is
2 %, 1.6 to 2.3 % and 5 %, 4 % and more and 10 %. The spread that is seen is about the jitter.
"""

TRIAL_STEPS = 3
"""Guided steps in which "auto" learns what a launch costs; sizes must differ for that."""

ALPHA = 0.3
"""Weight of a new step in the estimates: a third of it is forgotten within a step."""

CLOCK_S = 1e-9
"""The unit of `time.perf_counter_ns`: what takes less was not measured."""

_LEARNS: tuple[Policy, ...] = ("ewma", "guided", "auto")


class BatchSplitter:
    """Divides batches so that devices of unequal speed end together.

    Args:
        devices: Devices, Partitions, ranks or names; at least one, all different.
        policy: "equal": the same for all. "weighted": by `speeds`. "ewma": by the observed speeds.
            "guided": three quarters so, the rest to who is free. "pull": pieces to who is free.
            "auto": guided where launches cost less than jitter does, else ewma.
        alpha: weight of a new step in the observed speeds, above 0 to 1.
        speeds: relative speeds, above 0, one a device; by default a slice of a board counts as its
            share of the board's compute, all else as 1.
        warmup: first observations of each device that are passed over.

    Raises:
        UsageError: an argument is wrong; the message names it.
    """

    def __init__(
        self,
        devices: Iterable[Any],
        policy: Policy = "auto",
        *,
        alpha: float = ALPHA,
        speeds: Sequence[float] | None = None,
        warmup: int = 1,
    ) -> None:
        members = members_of(devices)
        _check(bool(members), "there must be a device", "devices=accelhal.devices()")
        _check(
            all(one not in members[:place] for place, one in enumerate(members)),
            f"a device is named twice: {', '.join(map(str, members))}",
            "name each device once",
        )
        _check(
            policy in get_args(Policy),
            f"{policy!r} is not a policy",
            f"one of: {', '.join(get_args(Policy))}",
        )
        _check(
            _is_number(alpha) and 0 < alpha <= 1,
            f"alpha must be above 0 to 1, not {alpha!r}",
            "0.3",
        )
        _check(
            _is_count(warmup),
            f"warmup must be 0 or more observations, not {warmup!r}",
            "warmup=1",
        )
        self._policy: Policy = policy
        self._devices = members
        self._speeds = _checked(speeds, members)
        self._paces = [Pace(alpha, warmup) for _ in members]
        self._trials = 0
        self._last: Parts | None = None

    @property
    def devices(self) -> tuple[Any, ...]:
        """Those that share batches, in order."""
        return tuple(self._devices)

    @property
    def policy(self) -> Policy:
        """As it was given."""
        return self._policy

    @property
    def weights(self) -> tuple[float, ...]:
        """Relative speeds by which rows are divided, one a device; they sum to 1."""
        if self.policy == "equal":
            speeds = [1.0] * len(self._devices)
        elif self.policy in _LEARNS:
            speeds = self._observed()
        else:
            speeds = list(self._speeds)
        whole = sum(speeds)
        return tuple(speed / whole for speed in speeds)

    def split(self, batch: Any) -> Parts:
        """Divide a batch at once: a part for each device, of no rows where there are too few.

        Args:
            batch: a number of rows, or a nest of tensors whose first dimension is the rows.

        Raises:
            UsageError: the batch has no rows that can be divided, or the policy hands out pieces
                as devices become free.
        """
        if self.policy in ("guided", "pull"):
            raise UsageError(
                f"{self.policy} hands rows to whichever device is free; it cannot divide at once",
                operation="split",
                hint='pieces(batch), or policy="auto", which divides as ewma does',
            )
        rows, given = rows_of(batch)
        self._end_step()
        parts, start = [], 0
        for device, count in zip(self._devices, apportion(rows, self.weights), strict=True):
            stop = start + count
            parts.append(Part(device, start, stop, cut(batch, start, stop) if given else None))
            start = stop
        self._last = Parts(parts)
        return self._last

    def pieces(self, batch: Any) -> Pieces:
        """Hand out a batch piece by piece, as the policy says.

        Args:
            batch: a number of rows, or a nest of tensors whose first dimension is the rows.

        Raises:
            UsageError: the batch has no rows that can be divided.
        """
        rows, _ = rows_of(batch)
        self._end_step()
        manner = self._manner(rows)
        workers = [
            Worker(device, weight, self._least(pace) if manner == "guided" else 1)
            for device, weight, pace in zip(self._devices, self.weights, self._paces, strict=True)
        ]
        return Pieces(rows, workers, manner)

    def observe(self, device: Any, rows: int, seconds: float) -> None:
        """Say how long a device took; of no rows it says nothing.

        Raises:
            UsageError: no such device, or no number of rows or seconds.
        """
        place = self._place(device)
        _check(_is_count(rows), f"rows must be 0 or more, not {rows!r}", "rows=64")
        _check(
            _is_number(seconds) and seconds >= 0,
            f"seconds must be 0 or more, not {seconds!r}",
            "the time from launch to end, in seconds",
        )
        if rows and seconds >= CLOCK_S:
            self._paces[place].observe(int(rows), float(seconds))

    def grad_scale(self, device: Any, reduction: Reduction = "mean") -> float:
        """What a device multiplies its loss by, for the last `split`: see `Parts.grad_scale`.

        Raises:
            UsageError: nothing was split yet, no such device or reduction, or a mean over no rows.
        """
        if self._last is None:
            raise UsageError("nothing was split yet", operation="grad_scale", hint="split(batch)")
        return self._last.grad_scale(device, reduction)

    def remove(self, device: Any) -> None:
        """Give a device nothing more.

        Raises:
            DeviceLostError: it was the last.
            UsageError: no such device.
        """
        place = self._place(device)
        if len(self._devices) == 1:
            raise DeviceLostError(
                f"{device} was the last device of the splitter",
                device=str(device),
                operation="remove",
                hint="`accelhal doctor` says whether it can be used again",
            )
        for kept in (self._devices, self._speeds, self._paces):
            del kept[place]

    def expected_seconds(self, device: Any, rows: int) -> float | None:
        """How long a device should take for some rows; None before it was observed."""
        pace = self._paces[self._place(device)].seconds_per_row
        return None if pace is None else pace * rows

    def chosen(self, rows: int) -> Policy:
        """The policy by which `pieces` hands out a batch of that many rows."""
        if self.policy != "auto":
            return self.policy
        if self._trials < TRIAL_STEPS:
            return "guided"
        launches = [pace.launch_seconds for pace in self._paces]
        step = rows / sum(1 / pace for pace in self._seconds_per_row() or [math.inf])
        costs = [launch for launch in launches if launch is not None]
        spread = max((pace.spread or 0.0 for pace in self._paces), default=0.0)
        cheap = len(costs) == len(launches) and max(costs) < GUIDED_BELOW * spread * step
        return "guided" if cheap else "ewma"

    def _manner(self, rows: int) -> Manner:
        policy = self.chosen(rows)
        if self.policy == "auto":
            self._trials += 1
        return policy if policy in ("guided", "pull") else "static"

    def _least(self, pace: Pace) -> int:
        launch, each = pace.launch_seconds, pace.seconds_per_row
        if launch is None or each is None:
            return 1
        return max(1, math.ceil(PIECE_OVER_LAUNCH * launch / each))

    def _end_step(self) -> None:
        for pace in self._paces:
            pace.end_step()

    def _observed(self) -> list[float]:
        """Rows a second where observed; else by `speeds`, on the scale of those observed."""
        known = [
            (1 / pace.seconds_per_row, speed)
            for pace, speed in zip(self._paces, self._speeds, strict=True)
            if pace.seconds_per_row is not None
        ]
        scale = sum(rate for rate, _ in known) / sum(speed for _, speed in known) if known else 1.0
        return [
            scale * speed if pace.seconds_per_row is None else 1 / pace.seconds_per_row
            for pace, speed in zip(self._paces, self._speeds, strict=True)
        ]

    def _seconds_per_row(self) -> list[float]:
        return [pace.seconds_per_row for pace in self._paces if pace.seconds_per_row is not None]

    def _place(self, device: Any) -> int:
        if device in self._devices:
            return self._devices.index(device)
        raise UsageError(
            f"{device} is not a device of this splitter",
            operation="BatchSplitter",
            hint=f"one of: {', '.join(map(str, self._devices))}",
        )


def members_of(devices: Iterable[Any]) -> list[Any]:
    """The devices one by one; a name alone is none of a list."""
    _check(
        isinstance(devices, Iterable) and not isinstance(devices, (str, bytes)),
        f"{devices!r} is not a list of devices",
        "devices=accelhal.devices()",
    )
    return list(devices)


def _checked(speeds: Sequence[float] | None, devices: list[Any]) -> list[float]:
    if speeds is None:
        return [relative_speed(device) for device in devices]
    numbers = list(speeds) if isinstance(speeds, Iterable) else [speeds]
    right = len(numbers) == len(devices) and all(_is_number(one) and one > 0 for one in numbers)
    _check(
        right,
        f"{numbers} are no speeds of {len(devices)} devices",
        "a number above 0 for each device: [1, 0.5]",
    )
    fastest = max(numbers)
    return [float(one / fastest) for one in numbers]  # none so large that their sum overflows


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)


def _is_count(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= 0


def _check(right: bool, message: str, hint: str) -> None:
    if not right:
        raise UsageError(message, operation="BatchSplitter", hint=hint)
