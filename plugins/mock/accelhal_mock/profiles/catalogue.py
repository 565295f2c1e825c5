"""Profiles of real boards by name, made from the published figures in boards.json.

Nominal figures: they make relative speeds mean something, and promise nothing of a real board.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from accelhal.errors import UsageError, did_you_mean
from accelhal_mock.profiles.neutral import NEUTRAL
from accelhal_mock.profiles.profile import BoardProfile, ChipLink, Pcie, Slice
from accelhal_mock.profiles.user import profile_from_mapping, read_profile

_GIB = 1 << 30
_DTYPES: Mapping[str, str] = {
    "fp32": "float32",
    "tf32_hf32": "tfloat32",
    "fp16": "float16",
    "bf16": "bfloat16",
    "int8": "int8",
}
"""Names in boards.json -> torch's (tfloat32 has none there)."""

_FIELDS: Mapping[str, str] = {
    "memory_bytes": "memory",
    "memory_bandwidth_gb_s": "bandwidth",
    "peak_dense": "peak_rates",
    "board_power_w": "power_limit",
    "pcie": "pcie",
    "chip_link": "link",
    "compute_units": "compute_units",
    "driver_names": "product",
    "soc_names": "arch",
}
"""Fields of boards.json -> attributes of BoardProfile, for what is unverified."""


def load_profile(source: str | Path | Mapping[str, Any] | BoardProfile) -> BoardProfile:
    """A profile by name, from a mapping, or from a .json or .toml file.

    Raises:
        UsageError: no such profile or file, or a field is missing, unknown or wrong; it is named.
    """
    if isinstance(source, BoardProfile):
        return source
    if isinstance(source, Mapping):
        return profile_from_mapping(source)
    if isinstance(source, Path) or source.endswith((".json", ".toml")):
        return read_profile(Path(source))
    row = _rows().get(source.strip().lower())
    if row is None:
        did = did_you_mean(source, _rows())
        raise UsageError(
            f"there is no profile {source!r}",
            operation="install",
            hint=f"{did}known: {', '.join(profile_names())}; or give a .json or .toml file",
        )
    return _from_row(source.strip().lower(), row)


def profile_names() -> tuple[str, ...]:
    """The boards that have a profile, each by its first name."""
    return tuple(row["aliases"][0] if row["aliases"] else row["id"] for row in _table())


@cache
def _table() -> tuple[dict[str, Any], ...]:
    text = files(__package__).joinpath("boards.json").read_text(encoding="utf-8")
    return tuple(json.loads(text)["boards"])


@cache
def _rows() -> Mapping[str, dict[str, Any]]:
    return {name: row for row in _table() for name in (row["id"], *row["aliases"])}


def _from_row(name: str, row: Mapping[str, Any]) -> BoardProfile:
    assumed = {"launch_cost", "power_idle", "thermals", "core_clock", "memory_clock", "numa_nodes"}

    def known(attribute: str, value: Any) -> Any:
        if value is None:
            assumed.add(attribute)
            return getattr(NEUTRAL, attribute)
        return value

    rates = {_DTYPES[key]: rate * 1e12 for key, rate in row["peak_dense"].items() if rate}
    assumed.update(
        f"peak_rates.{_DTYPES[key]}" for key, rate in row["peak_dense"].items() if not rate
    )
    bandwidth = row["memory_bandwidth_gb_s"]
    power = known("power_limit", row["board_power_w"])
    return BoardProfile(
        name=name,
        vendor=row["vendor"],
        product=row["product"],
        memory=known("memory", row["memory_bytes"]),
        bandwidth=known("bandwidth", bandwidth and bandwidth * 1e9),
        peak_rates=known("peak_rates", rates or None),
        unsupported=frozenset(_DTYPES[key] for key in row["unsupported"]),
        launch_cost=NEUTRAL.launch_cost,
        power_idle=min(NEUTRAL.power_idle, power / 4),
        power_limit=power,
        thermals=NEUTRAL.thermals,
        core_clock=NEUTRAL.core_clock,
        memory_clock=NEUTRAL.memory_clock,
        pcie=known("pcie", row["pcie"] and _pcie(row["pcie"])),
        link=_link(row["chip_link"], assumed),
        numa_nodes=NEUTRAL.numa_nodes,
        compute_units=row["compute_units"],
        arch=_arch(row),
        slices=tuple(_slices(row["slices"])),
        assumed=frozenset(assumed),
        unverified=frozenset(_unverified(row["unverified_fields"])),
        sources=(*row["sources"], f"strength: {row['strength']}"),
    )


def _pcie(row: Mapping[str, int]) -> Pcie:
    return Pcie(generation=row["gen"], lanes=row["width"])


def _link(row: Mapping[str, Any], assumed: set[str]) -> ChipLink | None:
    if row["kind"] is None:
        return None
    both = row["bandwidth_gb_s_both_directions"]
    if both is None:
        assumed.add("link.bandwidth")
        return ChipLink(kind=row["kind"], bandwidth=NEUTRAL.link_bandwidth)
    return ChipLink(kind=row["kind"], bandwidth=both * 1e9 / 2)


def _arch(row: Mapping[str, Any]) -> str | None:
    if row["compute_capability"]:
        return "sm_" + str(row["compute_capability"]).replace(".", "")
    return row["soc_names"][0] if row["soc_names"] else None


def _slices(names: list[str]) -> Iterator[Slice]:
    for name in names:
        share, _, memory = name.partition("g.")
        yield Slice(
            name=name, memory=int(memory.removesuffix("gb")) * _GIB, compute_share=int(share) / 7
        )


def _unverified(names: list[str]) -> Iterator[str]:
    for name in names:
        head, _, tail = name.partition(".")
        attribute = _FIELDS.get(head.partition("[")[0])
        if attribute is not None:
            yield f"{attribute}.{_DTYPES.get(tail, tail)}" if tail else attribute
