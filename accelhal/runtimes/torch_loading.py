"""Importing torch so that one broken vendor package cannot take torch down with it."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Collection
from dataclasses import dataclass
from importlib import metadata
from types import ModuleType

from accelhal.errors import (
    BackendIncompatibleError,
    BackendLoadError,
    described,
    message_of,
)
from accelhal.host import Host
from accelhal.host.torch_install import (
    AUTOLOAD_GROUP,
    AUTOLOAD_VARIABLE,
    MINIMUM_TORCH,
    autoload_enabled,
    autoload_entries,
    too_old,
)
from accelhal.runtimes.vendor_import import autoload_variable_kept, import_guard

INSTALL_TORCH = "pip install 'accelhal[torch]' (or your vendor's torch)"
"""The next step where there is no torch."""


@dataclass(frozen=True)
class AutoloadFailure:
    """A package that torch would have loaded by itself, and why it was left out."""

    package: str
    reason: str


def load_torch(broken_packages: Collection[str] = ()) -> tuple[AutoloadFailure, ...]:
    """Import torch, then its autoloaded vendor packages one by one, each failure its own.

    torch loads the entry points of `torch.backends` inside its own import, where one exception
    makes the whole import fail. Their loading is therefore held back and done here, with the
    environment restored in between; TORCH_DEVICE_BACKEND_AUTOLOAD=0 set by the user is kept.

    Args:
        broken_packages: top-level packages known not to load; they are not tried.

    Returns:
        The packages left out. Empty when torch was imported already.

    Raises:
        BackendLoadError: torch is not installed, or does not load.
        BackendIncompatibleError: torch is older than MINIMUM_TORCH.
    """
    if "torch" in sys.modules:
        _check_version(_import_torch())  # waits where another thread is importing it
        return ()
    wanted = autoload_enabled(Host())
    _import_without_autoload()
    return _load_vendor_packages(broken_packages) if wanted else ()


def privateuse1_owner() -> str | None:
    """The device type that holds torch's one place for out-of-tree devices.

    None where the place is free, and as long as torch is not loaded.
    """
    torch = sys.modules.get("torch")
    owner = getattr(getattr(torch, "_C", None), "_get_privateuse1_backend_name", None)
    if owner is None:
        return None
    name: str = owner()
    return None if name == "privateuseone" else name


def _import_without_autoload() -> None:
    with autoload_variable_kept():
        os.environ[AUTOLOAD_VARIABLE] = "0"
        torch = _import_torch()
    _check_version(torch)


def _import_torch() -> ModuleType:
    try:
        return importlib.import_module("torch")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise _broken_torch(error) from error
        raise BackendLoadError(
            "torch is not installed in this Python",
            operation="import torch",
            hint=INSTALL_TORCH,
        ) from error
    except Exception as error:
        raise _broken_torch(error) from error


def _broken_torch(error: Exception) -> BackendLoadError:
    if "torch._C" in sys.modules:
        hint = (
            "an earlier `import torch` failed half-way in this process; "
            f"start again with {AUTOLOAD_VARIABLE}=0, or import accelhal first"
        )
    else:
        hint = "reinstall torch; `accelhal doctor --deep` shows which library is missing"
    return BackendLoadError(
        f"torch does not load: {message_of(error)}", operation="import torch", hint=hint
    )


def _check_version(torch: ModuleType) -> None:
    version = getattr(torch, "__version__", None)
    if version is None:
        place = getattr(torch, "__file__", None) or list(getattr(torch, "__path__", ()))
        raise BackendLoadError(
            f"what is imported as torch has no version ({place})",
            operation="import torch",
            hint="another file named torch stands before it, or its import has not ended yet",
        )
    reason = too_old(str(version))
    if reason is not None:
        raise BackendIncompatibleError(reason, hint=f"pip install 'torch>={MINIMUM_TORCH}'")


def _load_vendor_packages(broken: Collection[str]) -> tuple[AutoloadFailure, ...]:
    failures = []
    for entry in autoload_entries():
        if entry.package in broken:
            failures.append(AutoloadFailure(entry.package, "its probe found it broken"))
            continue
        try:
            with import_guard():
                metadata.EntryPoint(entry.name, entry.value, AUTOLOAD_GROUP).load()()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # vendor packages raise OSError, SystemExit, AssertionError
            failures.append(AutoloadFailure(entry.package, described(error)))
    return tuple(failures)
