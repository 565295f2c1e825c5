"""Stand-ins for figures that nobody publishes: ordinary values, never taken for a board's own.

A profile that uses one names the attribute in `assumed`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from accelhal_mock.profiles.profile import Pcie, Thermals


@dataclass(frozen=True)
class NeutralFigures:
    """One value for each attribute of BoardProfile that may be unknown; units are the same.

    They are round numbers of the order that data-centre boards of 2020 to 2024 show: microseconds
    for a launch, tens of GiB, hundreds of GB/s and of watts, a fan or chassis that takes half a
    minute to settle, two processors in the host.
    """

    memory: int = 32 << 30
    bandwidth: float = 400e9
    peak_rates: Mapping[str, float] = field(default_factory=lambda: {"float32": 10e12})
    launch_cost: float = 5e-6
    power_idle: float = 50.0
    power_limit: float = 300.0
    thermals: Thermals = field(
        default_factory=lambda: Thermals(
            idle=32.0, full_load=68.0, slowdown=90.0, time_constant=30.0
        )
    )
    core_clock: float = 1500.0
    memory_clock: float = 1500.0
    pcie: Pcie = field(default_factory=lambda: Pcie(generation=4, lanes=16))
    link_bandwidth: float = 100e9
    numa_nodes: int = 2


NEUTRAL = NeutralFigures()
