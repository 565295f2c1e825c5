"""What is installed in this process: the machine, and the device type it appears as."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from accelhal.errors import UsageError
from accelhal_mock.simulation import Machine


@dataclass
class Installation:
    """The machine that torch sees.

    Attributes:
        name: torch device type of the boards.
        machine: the boards.
        module: `torch.<name>`.
        active: whether the boards are counted; False between `uninstall` and `install`.
    """

    name: str
    machine: Machine
    module: ModuleType
    active: bool = True


_current: Installation | None = None


def current_installation() -> Installation:
    """What is installed.

    Raises:
        UsageError: nothing was installed in this process.
    """
    if _current is None:
        raise UsageError(
            "no simulated boards are shown to torch in this process",
            operation="python_mode",
            hint="call accelhal_mock.install() first",
        )
    return _current


def found_installation() -> Installation | None:
    """What is installed, or None."""
    return _current


def set_installation(installation: Installation) -> None:
    """Note what is installed; it stays so for the life of the process."""
    global _current
    _current = installation
