"""What torch_mlu raises: RuntimeError with CNRT's words, and torch's own out-of-memory error."""

from __future__ import annotations

import torch
from accelhal_mock.simulation import ErrorTypes

_SIMULATION = "MLU error: "
_CNRT = "CNRT error: "


class CnrtError(RuntimeError):
    """Raised by `check_error`; other calls raise plain RuntimeError."""

    def __init__(self, code: int) -> None:
        super().__init__(f"{_CNRT}{code}")


def runtime_error(text: str) -> RuntimeError:
    """The error of a failed call. CNRT's own strings are not recorded: the rest is simulated."""
    if text.startswith(_SIMULATION):
        text = _CNRT + text.removeprefix(_SIMULATION)
    return RuntimeError(text)


ERRORS = ErrorTypes(board=runtime_error, out_of_memory=torch.OutOfMemoryError)
