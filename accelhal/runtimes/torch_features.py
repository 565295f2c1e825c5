"""What differs between releases of torch, told by feature: the one place that looks.

A release number promises little: vendors ship patched torches, and their packages backport. The
number alone is read in `accelhal.host.torch_install`, where torch is not loaded and must not be.
"""

from __future__ import annotations

from typing import Any

import torch


def has_accelerator_module() -> bool:
    """Whether there is `torch.accelerator` (torch >= 2.6), for which `pin_memory()` then pins."""
    return hasattr(torch, "accelerator")


def accelerator_error() -> type[RuntimeError] | None:
    """`torch.AcceleratorError`, a failed call of the device (torch >= 2.8), or None."""
    found: type[RuntimeError] | None = getattr(torch, "AcceleratorError", None)
    return found


def precision_settings(*names: str) -> tuple[Any, ...]:
    """The objects with `fp32_precision` (torch >= 2.9); empty where one of them is not there.

    Args:
        *names: below `torch.backends`, such as "cudnn.conv".
    """
    settings = []
    for name in names:
        setting: Any = torch.backends
        for part in name.split("."):
            setting = getattr(setting, part, None)
        if not hasattr(setting, "fp32_precision"):
            return ()
        settings.append(setting)
    return tuple(settings)
