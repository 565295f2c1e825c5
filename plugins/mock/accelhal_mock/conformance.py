"""What the conformance suite must know of simulated boards: plain mode's tensors, and faults."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from accelhal_mock import installation, plain


class SimulatedBoards:
    """Overrides of `accelhal.testing.suite.SuiteBase`."""

    def put(self, tensor: torch.Tensor, device: Any) -> torch.Tensor:
        """A copy of a tensor on the board."""
        if not _is_plain():
            return tensor.to(device.torch_device, copy=True)
        with _disable_current_modes():
            return plain.put(tensor, device.index)

    def get(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy of a board's tensor on the host."""
        if not _is_plain():
            return tensor.cpu()
        with _disable_current_modes():
            return plain.get(tensor)

    def allocate(self, nbytes: int, device: Any) -> torch.Tensor:
        """A tensor of that many bytes on the board."""
        if not _is_plain():
            return torch.empty(nbytes, dtype=torch.uint8, device=device.torch_device)
        with _disable_current_modes():
            return plain.empty(nbytes, dtype=torch.uint8, device=device.index)

    def working(self) -> AbstractContextManager[Any]:
        """Context in which work on a board's tensors is that board's."""
        return plain.tracked() if _is_plain() else contextlib.nullcontext()

    @contextlib.contextmanager
    def inject_fault(self, device: Any) -> Iterator[None]:
        """Context in which the board asks for a reset to remap memory rows."""
        installation.inject("row_remap_pending", device=device.index)
        try:
            yield
        finally:
            installation.clear(device.index)


def _is_plain() -> bool:
    current = installation.installed()
    return current is not None and current.choice.mode == "plain"
