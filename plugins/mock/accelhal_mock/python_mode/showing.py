"""Puts the boards before torch, once, and takes them away again."""

from __future__ import annotations

import re
import sys
import threading
from types import ModuleType

import torch

from accelhal.errors import BackendIncompatibleError, UsageError
from accelhal_mock.python_mode import OLDEST_TORCH, patches
from accelhal_mock.python_mode.device_module import make_device_module
from accelhal_mock.python_mode.installed import (
    Installation,
    found_installation,
    set_installation,
)
from accelhal_mock.python_mode.random_numbers import BoardGenerator, default_generators
from accelhal_mock.python_mode.registration import register_kernels
from accelhal_mock.python_mode.serialization import register_serialization
from accelhal_mock.python_mode.tensor import board_devices
from accelhal_mock.simulation import MOST_BOARDS, Machine
from accelhal_mock.torch_errors import torch_errors

_UNNAMED = "privateuseone"
_lock = threading.Lock()


def show(machine: Machine, name: str) -> ModuleType:
    """See `accelhal_mock.python_mode.install`."""
    with _lock:
        machine.errors = torch_errors()
        installation = found_installation()
        if installation is None:
            _check(name)
            installation = Installation(name, machine, make_device_module(name))
            set_installation(installation)
            _register(installation)
        elif installation.name != name:
            raise _taken(installation.name, name)
        installation.machine = machine
        installation.active = True
        patches.apply()
        return installation.module


def hide() -> None:
    """See `accelhal_mock.python_mode.uninstall`."""
    with _lock:
        patches.revert()
        installation = found_installation()
        if installation is not None:
            installation.active = False


def _register(installation: Installation) -> None:
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

    name = installation.name
    _setup_privateuseone_for_python_backend(name, backend_module=installation.module)
    sys.modules[f"torch.{name}"] = installation.module
    board_devices[:] = [torch.device(name, index) for index in range(MOST_BOARDS)]
    default_generators[:] = [BoardGenerator(device) for device in board_devices]
    register_kernels(name)
    register_serialization()


def _check(name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise UsageError(
            f"{name!r} cannot be a device type: torch reads lower-case letters, digits and _ alone",
            operation="install",
            hint='name="mock"',
        )
    release = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if release < OLDEST_TORCH:
        wanted = ".".join(map(str, OLDEST_TORCH))
        raise BackendIncompatibleError(
            f"python mode needs torch {wanted} or newer, not {torch.__version__}",
            operation="install",
            hint='mode="plain" works with every torch',
        )
    owner = torch._C._get_privateuse1_backend_name()
    if owner != _UNNAMED:
        raise _taken(owner, name)
    if hasattr(torch, name) or _known_to_torch(name):
        raise UsageError(
            f"{name!r} cannot be a device type: torch has one of that name, or a module",
            operation="install",
            hint='name="mock"',
        )


def _known_to_torch(name: str) -> bool:
    try:
        torch.device(name)
    except RuntimeError:
        return False
    return True


def _taken(owner: str, name: str) -> BackendIncompatibleError:
    return BackendIncompatibleError(
        f"torch's one place for out-of-tree devices is held by {owner!r} in this process; "
        f"{name!r} cannot have it too",
        operation="install",
        hint='use mode="plain", or another process',
    )
