"""What the doctor says of backends."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.spi.doctor import Text

TEXTS: Mapping[str, Text] = {
    "probe.available": Text("{device} available: {reason}", several="{devices} available"),
    "probe.simulated": Text(
        "{device} available (simulated)", several="{devices} available (simulated)"
    ),
    "probe.no_hardware": Text("{device}: {reason}", several="{devices}: no hardware"),
    "probe.no_driver": Text(
        "{device}: {reason}",
        "The boards' driver is not installed or not running.",
        "the driver is loaded",
        several="{devices}: no driver",
    ),
    "probe.not_installed": Text(
        "{device}: {reason}",
        "A package that the backend needs is not installed in this Python.",
        "the package is installed",
        several="{devices}: vendor package not installed",
    ),
    "probe.library_broken": Text(
        "{device}: {reason}",
        "A library that the backend needs is missing or cannot be used.",
        "every library loads; `accelhal doctor --deep` shows the loader's own words",
        several="{devices}: library broken",
    ),
    "probe.incompatible": Text(
        "{device}: {reason}",
        "What is installed does not work together.",
        "versions and builds that fit",
        several="{devices}: incompatible versions",
    ),
    "probe.hidden_by_env": Text(
        "{device}: {reason}",
        "The boards are there; a variable hides them from this process.",
        "the variable names the devices to use, or is not set",
        several="{devices}: hidden by the environment",
    ),
    "probe.disabled": Text("{device}: {reason}", several="{devices} left out on request"),
}
