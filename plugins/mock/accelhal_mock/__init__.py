"""Simulated boards for tests: they count, fill up, run late and fail as real ones do.

    import accelhal_mock

    accelhal_mock.install(count=4, profile="a100-80g", memory="64MiB")
    accelhal_mock.inject("lost", device=1, after=10)

Importing this package takes neither torch nor the simulation; both are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accelhal_mock.installation import (
        Installation as Installation,
        advance as advance,
        clear as clear,
        inject as inject,
        install as install,
        installed as installed,
        machine as machine,
        uninstall as uninstall,
    )
    from accelhal_mock.simulation.hazards import (
        HazardError as HazardError,
        HazardWarning as HazardWarning,
    )

__all__ = [
    "HazardError",
    "HazardWarning",
    "Installation",
    "advance",
    "clear",
    "inject",
    "install",
    "installed",
    "machine",
    "uninstall",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from accelhal_mock import installation, simulation

    home = simulation if name.startswith("Hazard") else installation
    value = globals()[name] = getattr(home, name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
