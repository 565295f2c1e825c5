"""Importing torch so that one broken vendor package cannot take torch down with it."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Collection
from dataclasses import dataclass
from importlib import metadata
from types import ModuleType

from accelhal.errors import BackendIncompatibleError, BackendLoadError
from accelhal.host import Host
from accelhal.host.torch_install import (
    AUTOLOAD_GROUP,
    AUTOLOAD_VARIABLE,
    autoload_enabled,
)
from accelhal.runtimes.vendor_import import import_guard

MINIMUM_TORCH = (2, 4)
"""The oldest torch whose device modules, events and autocast queries accelhal uses."""


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
        _check_version(sys.modules["torch"])
        return ()
    wanted = autoload_enabled(Host())
    _import_without_autoload()
    return _load_vendor_packages(broken_packages) if wanted else ()


def _import_without_autoload() -> None:
    before = os.environ.get(AUTOLOAD_VARIABLE)
    os.environ[AUTOLOAD_VARIABLE] = "0"
    try:
        torch = importlib.import_module("torch")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise _broken_torch(error) from error
        raise BackendLoadError(
            "torch is not installed in this Python",
            operation="import torch",
            hint="pip install 'accelhal[torch]' (or your vendor's torch)",
        ) from error
    except Exception as error:
        raise _broken_torch(error) from error
    finally:
        if before is None:
            os.environ.pop(AUTOLOAD_VARIABLE, None)
        else:
            os.environ[AUTOLOAD_VARIABLE] = before
    _check_version(torch)


def _broken_torch(error: Exception) -> BackendLoadError:
    if "torch._C" in sys.modules:
        hint = (
            "an earlier `import torch` failed half-way in this process; "
            f"start again with {AUTOLOAD_VARIABLE}=0, or import accelhal first"
        )
    else:
        hint = "reinstall torch; `accelhal doctor --deep` shows which library is missing"
    return BackendLoadError(f"torch does not load: {error}", operation="import torch", hint=hint)


def _check_version(torch: ModuleType) -> None:
    version = str(getattr(torch, "__version__", "0.0"))
    release = tuple(int(part) for part in version.split("+")[0].split(".")[:2])
    if release < MINIMUM_TORCH:
        wanted = ".".join(map(str, MINIMUM_TORCH))
        raise BackendIncompatibleError(
            f"torch {version} is too old: accelhal needs {wanted} or newer",
            hint=f"pip install 'torch>={wanted}'",
        )


def _load_vendor_packages(broken: Collection[str]) -> tuple[AutoloadFailure, ...]:
    failures = []
    for entry in metadata.entry_points(group=AUTOLOAD_GROUP):
        package = entry.value.partition(":")[0].partition(".")[0]
        if package in broken:
            failures.append(AutoloadFailure(package, "its probe found it broken"))
            continue
        try:
            with import_guard():
                entry.load()()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # vendor packages raise OSError, SystemExit, AssertionError
            failures.append(AutoloadFailure(package, f"{type(error).__name__}: {error}"))
    return tuple(failures)
