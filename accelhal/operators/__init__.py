"""The operators that a model runs, and how a backend runs each of them; loads no torch."""

from accelhal.operators.check import check_model

__all__ = ["check_model"]
