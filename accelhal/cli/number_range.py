"""Numbers within bounds as options: "nan" is none, though it is not out of any range."""

from __future__ import annotations

import math
from typing import Any

import click


class NumberRange(click.FloatRange):
    """Click's range without nan."""

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> float:
        """Click's own conversion, without nan."""
        number: float = super().convert(value, param, context)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, context)
        return number
