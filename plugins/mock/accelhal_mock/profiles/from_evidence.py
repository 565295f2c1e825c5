"""Profiles from evidence: what was seen of real boards, the rest from their model's figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from accelhal.facts import BoardReading, Telemetry
from accelhal.facts.models import BoardModel
from accelhal_mock.profiles.catalogue import board_models, load_profile
from accelhal_mock.profiles.neutral import NEUTRAL
from accelhal_mock.profiles.profile import BoardProfile
from accelhal_mock.profiles.user import REQUIRED, profile_from_mapping

T = TypeVar("T")

_NOMINAL = (
    *("memory", "bandwidth", "peak_rates", "unsupported", "power_limit", "pcie", "link"),
    *("compute_units", "arch", "slices"),
)
"""Attributes that a model's published figures give where the evidence does not."""

_OF_ALL_CHIPS = ("memory", "bandwidth", "power_limit")
"""Of these, the numbers that a model with several chips has for all of them."""

_HOST_LINK = "PCIe"
"""Kind of link that leads to the host, not to a board."""


@dataclass(frozen=True)
class EvidenceProfile:
    """A profile of the boards of one model.

    Attributes:
        content: as `profile_from_mapping` takes it.
        seen: attributes that the evidence shows.
        nominal: attributes taken from the model's published figures.
        model: the model, None where no published one has the boards' name.
        assumed: attributes with a neutral value, as neither shows them.
    """

    content: Mapping[str, Any]
    seen: tuple[str, ...]
    nominal: tuple[str, ...]
    model: str | None
    assumed: tuple[str, ...]


def profile_of(
    readings: Sequence[BoardReading], numa_nodes: int | None, source: str
) -> EvidenceProfile:
    """The profile of boards of one model.

    Args:
        readings: what was seen of them, at least one; the first that shows an attribute counts.
        numa_nodes: NUMA nodes over which the boards of the host are spread, None where not seen.
        source: where all that was read.
    """
    board = readings[0].board
    seen, assumed = _seen(readings)
    if numa_nodes:
        seen["numa_nodes"] = numa_nodes
    model = _model(board.name, seen.get("memory"))
    nominal: dict[str, Any] = {}
    if model is not None:
        nominal = {n: v for n, v in _published(model).items() if n not in seen}
    if any(reading.links is not None for reading in readings):
        nominal.pop("link", None)  # looked for, and not there
    link = seen.get("link")
    if link is not None and link["bandwidth"] is None:
        published = {} if model is None else _published(model).get("link", {})
        known = published.get("kind") == link["kind"]
        link["bandwidth"] = published["bandwidth"] if known else NEUTRAL.link_bandwidth
        assumed += [] if known else ["link.bandwidth"]
    content = {
        "name": re.sub(r"[^a-z0-9]+", "-", board.name.lower()).strip("-") or "board",
        "vendor": board.vendor or "unknown",
        "product": board.name or "unnamed board",
        **seen,
        **nominal,
    }
    for name in REQUIRED:
        if name not in content:
            content[name] = getattr(NEUTRAL, name)
            assumed.append(name)
    limit = content.get("power_limit", NEUTRAL.power_limit)
    if content.get("power_idle", NEUTRAL.power_idle) > limit:
        content["power_idle"] = limit / 4
        assumed.append("power_idle")
    content["assumed"] = sorted(assumed)
    if model is not None:
        content["unverified"] = sorted(
            name for name in load_profile(model.id).unverified if name.partition(".")[0] in nominal
        )
    content["sources"] = [source, *(() if model is None else model.sources)]
    return EvidenceProfile(
        content=content,
        seen=tuple(seen),
        nominal=tuple(nominal),
        model=None if model is None else model.id,
        assumed=tuple(sorted(profile_from_mapping(content).assumed)),
    )


# ---- what the evidence shows


def _seen(readings: Sequence[BoardReading]) -> tuple[dict[str, Any], list[str]]:
    """Attributes of the profile that were seen; parts of them that were not."""
    assumed: list[str] = []
    idle = _first(readings, _at_rest)
    found = {
        "memory": _first(readings, _memory),
        "power_limit": _first(readings, _power_limit),
        "power_idle": idle and _positive(idle.power),
        "thermals": _thermals(readings, idle, assumed),
        "core_clock": _first(readings, lambda r: r.details and _positive(r.details.max_core_clock)),
        "memory_clock": _first(readings, _memory_clock),
        "pcie": _first(readings, _pcie),
        "link": _first(readings, _link),
        "slices": _slices(readings),
    }
    return {name: value for name, value in found.items() if value}, assumed


def _first(readings: Iterable[BoardReading], read: Callable[[BoardReading], T | None]) -> T | None:
    return next((value for value in map(read, readings) if value), None)


def _positive(value: float | None) -> float | None:
    return value if value is not None and value > 0 else None


def _at_rest(reading: BoardReading) -> Telemetry | None:
    seen = reading.telemetry
    return seen if seen is not None and seen.utilization == 0 else None


def _memory(reading: BoardReading) -> int | None:
    return reading.board.total_memory or (reading.telemetry and reading.telemetry.memory_total)


def _power_limit(reading: BoardReading) -> float | None:
    seen, details = reading.telemetry, reading.details
    now = seen and _positive(seen.power_limit)
    return now or (details and _positive(details.default_power_limit))


def _memory_clock(reading: BoardReading) -> float | None:
    seen, details = reading.telemetry, reading.details
    highest = details and _positive(details.max_memory_clock)
    return highest or (seen and _positive(seen.memory_clock))


def _thermals(
    readings: Sequence[BoardReading], idle: Telemetry | None, assumed: list[str]
) -> dict[str, float] | None:
    found = {
        "idle": idle and _positive(idle.temperature),
        "slowdown": _first(
            readings, lambda r: r.details and _positive(r.details.slowdown_temperature)
        ),
    }
    if not any(found.values()):
        return None
    known = {
        **asdict(NEUTRAL.thermals),
        **{name: value for name, value in found.items() if value},
    }
    if known["idle"] >= known["slowdown"]:
        return None
    assumed += [f"thermals.{name}" for name in known if not found.get(name)]
    if not known["idle"] < known["full_load"] < known["slowdown"]:
        known["full_load"] = (known["idle"] + known["slowdown"]) / 2
    return known


def _pcie(reading: BoardReading) -> dict[str, int] | None:
    seen = reading.pcie
    if seen is None:
        return None
    # A board at rest lowers both, so the highest goes first.
    generation = seen.max_generation or seen.generation
    lanes = seen.max_lanes or seen.lanes
    return {"generation": generation, "lanes": lanes} if generation and lanes else None


def _link(reading: BoardReading) -> dict[str, Any] | None:
    links = [link for link in reading.links or () if link.kind != _HOST_LINK]
    if not links:
        return None
    speeds = [link.bandwidth for link in links if link.up]
    known = [speed for speed in speeds if speed is not None]
    return {"kind": links[0].kind, "bandwidth": sum(known) if known == speeds != [] else None}


def _slices(readings: Iterable[BoardReading]) -> list[dict[str, Any]]:
    return list(
        {
            part.profile: {
                "name": part.profile,
                "memory": part.total_memory,
                "compute_share": part.compute_share,
            }
            for reading in readings
            for part in reading.partitions or ()
            if part.profile and part.total_memory and part.compute_share
        }.values()
    )


# ---- what is published


def _model(product: str, memory: int | None) -> BoardModel | None:
    """The model of that name; of several, the one whose memory a chip is nearest."""
    named = [model for model in board_models() if product in model.names]
    if len(named) > 1 and memory is not None:
        return min(named, key=lambda model: abs((model.memory or 0) / model.chips - memory))
    return named[0] if named else None


def _published(model: BoardModel) -> dict[str, Any]:
    """The model's figures for one chip of it, as a profile's content."""
    profile = load_profile(model.id)
    found = {
        name: value
        for name, value in _plain(profile).items()
        if name in _NOMINAL and name not in profile.assumed and value
    }
    for name in _OF_ALL_CHIPS:
        if name in found:
            found[name] = type(found[name])(found[name] / model.chips)
    for name in ("peak_rates", "compute_units", "link"):
        if name in found:
            found[name] = _share(found[name], model.chips)
    return found


def _plain(profile: BoardProfile) -> dict[str, Any]:
    content = asdict(profile)
    content["unsupported"] = sorted(profile.unsupported)
    content["slices"] = list(content["slices"])
    content["peak_rates"] = dict(profile.peak_rates)
    return content


def _share(value: Any, chips: int) -> Any:
    if isinstance(value, dict):
        return {name: v if isinstance(v, str) else v / chips for name, v in value.items()}
    return max(1, value // chips)
