"""A stand-in for torch_mlu: its recorded interface over accelhal-mock's simulated boards.

For child processes alone, with this package's parent folder first on the path and libcnrt.so where
the loader finds it. `settings` lists what the environment chooses.
"""

from __future__ import annotations

import os
import warnings

import torch

from torch_mlu import _MLUC  # noqa: F401  (first of all: without Neuware nothing else is touched)
from torch_mlu.settings import FORMS, read_settings

_SETTINGS = read_settings()

__version__ = FORMS[_SETTINGS.form]


def init() -> None:
    """Do nothing: importing the package was all. The entry point for torch's autoload."""


def _other_accelerator() -> str | None:
    find = getattr(getattr(torch, "accelerator", None), "current_accelerator", None)
    found = find() if find is not None else None
    return None if found is None or found.type == "mlu" else str(found.type)


def _add_device() -> None:
    from torch_mlu import cncl, gpu_migration, module, process

    process.show()
    torch.mlu = module.fill()
    cncl.register()
    torch.version.mlu = None if _SETTINGS.form == "1.25" else "0.0.0"
    if _SETTINGS.form == "1.33" and os.environ.get("TORCH_MLU_GPU_MIGRATION") == "1":
        gpu_migration.rebind(torch.mlu)


if _SETTINGS.form == "1.33":
    os.environ.pop("TORCH_DEVICE_BACKEND_AUTOLOAD", None)
    if _other_accelerator() is not None:
        warnings.warn(
            f"torch has {_other_accelerator()} already: torch.mlu is left out", stacklevel=2
        )
    else:
        _add_device()
else:
    _add_device()
