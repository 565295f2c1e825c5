"""What a device was observed to do: seconds a row, and seconds that each launch takes beside."""

from __future__ import annotations

MOST_CHANGE = 3.0
"""Factor by which one step may differ from the estimate before it is cut to that.

A step that compiles, or waits for another program, takes many times as long; the next will not.
"""

SPREAD_WEIGHT = 0.1
"""Least weight of a new step in the spread: the mean of some ten steps."""

ALIKE = 1e-3
"""1 - cos² of the angle between the fit's two columns below which the sizes were too alike."""


class Pace:
    """The pace of one device, from rows and seconds.

    Observations of one step are taken together when it ends: pieces of a step share its fixed
    costs. The first steps are averaged, later ones smoothed exponentially.

    Attributes:
        seconds_per_row: the estimate; None before a step has ended.
        spread: how far a step is from the estimate before it, as a fraction of it, on average; None
            before two steps have ended.

    Args:
        alpha: weight of a new step, above 0 to 1.
        warmup: first observations that are passed over: they pay for compiling and for memory.
    """

    def __init__(self, alpha: float, warmup: int) -> None:
        self.seconds_per_row: float | None = None
        self.spread: float | None = None
        self._alpha = alpha
        self._passed_over = warmup
        self._steps = 0
        self._rows = 0
        self._seconds = 0.0
        self._fit = LaunchFit()

    def observe(self, rows: int, seconds: float) -> None:
        """Note that `rows` rows, 1 or more, took `seconds`, above 0."""
        if self._passed_over:
            self._passed_over -= 1
            return
        self._rows += rows
        self._seconds += seconds
        self._fit.observe(rows, seconds)

    def end_step(self) -> None:
        """Take what was observed since the last call into the estimate."""
        if not self._rows:
            return
        new = self._seconds / self._rows
        old = self.seconds_per_row
        if old is None:
            self.seconds_per_row = new
        else:
            new = min(max(new, old / MOST_CHANGE), old * MOST_CHANGE)
            off = abs(new / old - 1)
            before = off if self.spread is None else self.spread
            self.spread = before + max(SPREAD_WEIGHT, 1 / self._steps) * (off - before)
            weight = max(self._alpha, 1 / (self._steps + 1))
            self.seconds_per_row = old + weight * (new - old)
        self._steps += 1
        self._rows, self._seconds = 0, 0.0

    @property
    def launch_seconds(self) -> float | None:
        """Seconds of a launch that do not depend on its rows; None where sizes were too alike."""
        return self._fit.fixed_seconds()


class LaunchFit:
    """Least squares of `seconds = fixed + each * rows`, relative to the seconds.

    Relative, as the noise of a device is: else the long launches' noise hides what the short
    ones tell.
    """

    def __init__(self) -> None:
        # Sums of products of the columns a = 1/seconds, b = rows/seconds, and of each column.
        self._aa = self._ab = self._bb = self._a = self._b = 0.0

    def observe(self, rows: int, seconds: float) -> None:
        """Note a launch."""
        a, b = 1 / seconds, rows / seconds
        self._aa += a * a
        self._ab += a * b
        self._bb += b * b
        self._a += a
        self._b += b

    def fixed_seconds(self) -> float | None:
        """The fixed part, 0 or more."""
        square = self._aa * self._bb
        determinant = square - self._ab * self._ab
        if determinant <= ALIKE * square:
            return None
        return max(0.0, (self._a * self._bb - self._b * self._ab) / determinant)
