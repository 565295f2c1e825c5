"""Importing a vendor's torch package without letting it change the process around it."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator
from types import ModuleType

from accelhal.errors import BackendIncompatibleError
from accelhal.host.torch_install import AUTOLOAD_VARIABLE


@contextlib.contextmanager
def autoload_variable_kept() -> Iterator[None]:
    """Put the autoload variable back as it was, whatever happens inside."""
    before = os.environ.get(AUTOLOAD_VARIABLE)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(AUTOLOAD_VARIABLE, None)
        else:
            os.environ[AUTOLOAD_VARIABLE] = before


@contextlib.contextmanager
def import_guard() -> Iterator[None]:
    """Keep the autoload variable and the standard output as they are.

    Vendor packages set or drop TORCH_DEVICE_BACKEND_AUTOLOAD while they import, and leave it so
    when they fail; some print warnings to stdout, where a program's own output belongs.
    """
    with autoload_variable_kept(), contextlib.redirect_stdout(sys.stderr):
        yield


def device_module(device_type: str, package: str | None = None) -> ModuleType:
    """`torch.<device_type>`, imported from the vendor's package where torch does not have it yet.

    Args:
        device_type: torch device type ("npu").
        package: the package that adds it; None where torch itself brings it.

    Raises:
        BackendIncompatibleError: the package imports, but leaves torch without the module.
        Exception: whatever the package raises while it imports.
    """
    import torch

    if package is not None and (not hasattr(torch, device_type) or _half_imported(package)):
        with import_guard():
            importlib.import_module(package)
    module: ModuleType | None = getattr(torch, device_type, None)
    if module is None:
        raise BackendIncompatibleError(
            f"torch {torch.__version__} has no torch.{device_type}"
            + (f" although {package} imported: it does not accept this torch" if package else ""),
            backend=device_type,
            operation="open",
            hint=f"install the torch that {package} was built for" if package else None,
        )
    return module


def _half_imported(package: str) -> bool:
    """Whether an import of the package failed on the way: what it did to torch by then stays.

    Importing it again gives its error again.
    """
    return package not in sys.modules and any(
        name.startswith(f"{package}.") for name in list(sys.modules)
    )
