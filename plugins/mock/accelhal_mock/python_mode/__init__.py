"""Python mode: simulated boards as real torch devices, without a compiler (torch >= 2.10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from accelhal_mock.simulation import Machine

OLDEST_TORCH = (2, 10)
"""The first torch that takes an out-of-tree device from Python."""


def install(machine: Machine, name: str = "mock") -> ModuleType:
    """Show a machine's boards to torch as devices of type `name`; returns `torch.<name>`.

    The device type is registered once for the process and keeps its name; the machine may be
    another one, or have other boards, each time.

    Raises:
        UsageError: `name` cannot be a device type.
        BackendIncompatibleError: this torch cannot take the device, or another one has its place.
    """
    from accelhal_mock.python_mode.showing import show

    return show(machine, name)


def uninstall() -> None:
    """Take back all patches of torch, and count no boards any more."""
    from accelhal_mock.python_mode.showing import hide

    hide()
