"""Binds torch.cuda's names to torch.mlu's, so that programs for CUDA boards run unchanged."""

from __future__ import annotations

from types import ModuleType

import torch


def rebind(module: ModuleType) -> None:
    """Let torch.cuda be the boards of `module`, its count and availability included."""
    for name, value in vars(module).items():
        if not name.startswith("_") and hasattr(torch.cuda, name):
            setattr(torch.cuda, name, value)
