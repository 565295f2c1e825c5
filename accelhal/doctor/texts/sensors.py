"""What the doctor says of links, sensors, heat, power and clocks."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.spi.doctor import Text

_SLOWER = "Work on the board takes longer than it should."

TEXTS: Mapping[str, Text] = {
    # ---- link.<word>
    "link.up": Text("{device}: {count} links up", several="links up on {number} boards"),
    "link.unused": Text(
        "{device}: no link between boards is connected",
        several="no link between boards is connected",
    ),
    "link.down": Text(
        "{device}: links {numbers} are down, {up} are up",
        "Boards of its model here have more links up. Copies between boards take fewer links or "
        "PCIe, and collectives slow down or fail.",
        "{expected} links up",
    ),
    "link.errors": Text("{device}: its links counted {errors} errors since the driver was loaded"),
    # ---- pcie.link
    "pcie.full": Text("{device}: PCIe x{lanes}", several="PCIe x{lanes} on {number} boards"),
    "pcie.idle": Text(
        "{device}: PCIe x{lanes}; at rest its speed is not judged",
        several="PCIe x{lanes} on {number} boards, at rest: their speed is not judged",
    ),
    "pcie.narrow": Text(
        "{device}: PCIe x{lanes} of x{most}",
        "Copies to and from the host reach {share} of the bandwidth: a seat, a riser, a slot wired "
        "narrower, or a shared slot.",
        "x{most}",
    ),
    "pcie.slow": Text(
        "{device}: PCIe generation {now} of {most} under load",
        "The link did not speed up when work came: signal quality, or a setting of the firmware.",
        "generation {most} under load",
    ),
    # ---- pcie.replay
    "replay.few": Text("{device}: PCIe packets are not sent again"),
    "replay.many": Text(
        "{device}: {rate} PCIe packets a minute are sent again; {limit} are normal",
        "The signal is poor: a seat, riser, cable or slot.",
        "at most {limit} a minute",
    ),
    # ---- sensor.read
    "sensor.all": Text("{device}: its sensors are read", several="{number} boards report all"),
    "sensor.missing": Text(
        "{device}: not reported: {figures}", several="{number} boards do not report every figure"
    ),
    "sensor.implausible": Text(
        "{device}: {used} used of {total} of memory cannot be",
        "A counter went below zero, as in libraries that share boards among containers; limits "
        "that follow it refuse memory that is there.",
        "no more used than there is",
    ),
    "sensor.impossible_size": Text(
        "a tool shows {size} of memory, which no board has",
        "A counter went below zero, as in libraries that share boards among containers; limits "
        "that follow it refuse memory that is there.",
        "no more used than there is",
    ),
    # ---- thermal.throttle
    "thermal.cool": Text(
        "{device}: {temperature} °C, not slowed by heat",
        several="{number} boards not slowed by heat",
    ),
    "thermal.hot": Text(
        "{device}: slowed by heat: {reasons}, {temperature} °C",
        _SLOWER + " The board is too hot: air, filters, fans, a neighbour's heat, the room.",
        "no slowdown by heat",
    ),
    "thermal.near": Text(
        "{device}: {temperature} °C, {margin} °C below its slowdown",
        "It slows down soon, and does at the next heat of the room.",
        "at least {least} °C below it",
    ),
    # ---- thermal.air
    "air.none": Text("the machine's board management reads no air"),
    "air.fine": Text("air: inlet {inlet} °C, {rise} °C warmer at the outlet"),
    "air.warm": Text(
        "the air enters at {inlet} °C",
        "Air-cooled boards slow down in warm air.",
        "an inlet below {limit} °C",
    ),
    "air.rise": Text(
        "the air leaves {rise} °C warmer than it enters",
        "Too little air passes: fans, filters, blanks of empty slots, cables in its way.",
        "a rise below {limit} °C",
    ),
    # ---- power.limit
    "power.full": Text("{device}: power limit {limit} W", several="{number} power limits in full"),
    "power.lowered": Text(
        "{device}: power limit {limit} W of {default} W",
        "Somebody lowered it, or the machine did: work that needs the power runs slower.",
        "{default} W, unless it was lowered on purpose",
    ),
    "power.brake": Text(
        "{device}: the machine's power brake holds it back",
        _SLOWER + " A supply failed, or the machine caps its power.",
        "no power brake",
    ),
    "power.cap_below_limit": Text(
        "{device}: held back for power at {power} W, below {limit} W",
        "Something else than the board's own limit caps it: the machine, or a limit of the slot.",
        "no cap below the limit",
    ),
    # ---- clock.low and clock.reasons
    "clock.full": Text("{device}: {clock} MHz under load", several="clocks under load on {number}"),
    "clock.idle": Text(
        "{device}: at rest its clock is not judged", several="{number} at rest: no clock judged"
    ),
    "clock.pinned": Text(
        "{device}: {clock} MHz of {most} MHz under load, and no reason for it",
        "A clock that stays below its highest without a reason is locked by a setting, or the "
        "board's firmware is stuck.",
        "the highest clock, or a reason",
    ),
    "clock.held": Text(
        "{device}: {clock} MHz of {most} MHz under load: {reasons}",
        _SLOWER + " The reason says what holds it back.",
        "at least {least} MHz",
    ),
    "reasons.none": Text("{device}: nothing holds its clock back", several="no clock held back"),
    "reasons.some": Text(
        "{device}: its clock is held back by {reasons}", several="{number} clocks held back"
    ),
}
