"""torch's own error classes for the simulation to raise."""

from __future__ import annotations

from functools import cache

import torch

from accelhal.runtimes.torch_features import accelerator_error
from accelhal_mock.simulation import ErrorTypes


@cache
def torch_errors() -> ErrorTypes:
    """Makers of torch.OutOfMemoryError and, from torch 2.8 on, torch.AcceleratorError."""
    board = accelerator_error() or RuntimeError
    return ErrorTypes(board=board, out_of_memory=torch.OutOfMemoryError)
