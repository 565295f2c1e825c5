"""Profiles of real boards by name, made from the published figures of their models.

The files in boards/ are the vendors' plugins' own, as links: simulated boards need no such plugin.
Nominal figures: they make relative speeds mean something, and promise nothing of a real board.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from accelhal.errors import UsageError, did_you_mean
from accelhal.facts.models import BoardModel
from accelhal.spi.board_models import BoardModels, read_board_models
from accelhal_mock.profiles.neutral import NEUTRAL
from accelhal_mock.profiles.profile import BoardProfile, ChipLink, Pcie, Slice
from accelhal_mock.profiles.user import profile_from_mapping, read_profile

_GIB = 1 << 30

_ATTRIBUTES: Mapping[str, str] = {
    "names": "product",
    "memory": "memory",
    "bandwidth": "bandwidth",
    "peak_rates": "peak_rates",
    "power": "power_limit",
    "pcie_generation": "pcie",
    "pcie_lanes": "pcie",
    "link_kind": "link",
    "link_generation": "link",
    "link_bandwidth": "link",
    "compute_units": "compute_units",
    "arch": "arch",
}
"""Attributes of BoardModel -> those of BoardProfile, for what is unverified."""

_VENDORS = ("cuda", "ascend", "cambricon")
"""Names of the files in boards/."""

_RATES = ("float32", "tfloat32", "float16", "bfloat16", "int8")
"""Element types whose peaks vendors publish."""


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
    model = _by_name().get(source.strip().lower())
    if model is None:
        did = did_you_mean(source, _by_name())
        raise UsageError(
            f"there is no profile {source!r}",
            operation="install",
            hint=f"{did}known: {', '.join(profile_names())}; or give a .json or .toml file",
        )
    return _from_model(source.strip().lower(), model)


def profile_names() -> tuple[str, ...]:
    """The boards that have a profile, each by its first name."""
    return tuple((*model.aliases, model.id)[0] for model in board_models())


@cache
def board_models() -> tuple[BoardModel, ...]:
    """The models that profiles are made from, by vendor."""
    files = (Path(__file__).parent / "boards" / f"{name}.json" for name in _VENDORS)
    return tuple(model for file in files for model in read_board_models(file))


MODELS = BoardModels(board_models)
"""The value of the extension "board_models"."""


@cache
def _by_name() -> Mapping[str, BoardModel]:
    return {name: model for model in board_models() for name in (model.id, *model.aliases)}


def _from_model(name: str, model: BoardModel) -> BoardProfile:
    assumed = {"launch_cost", "power_idle", "thermals", "core_clock", "memory_clock", "numa_nodes"}

    def known(attribute: str, value: Any) -> Any:
        if value is None:
            assumed.add(attribute)
            return getattr(NEUTRAL, attribute)
        return value

    assumed.update(f"peak_rates.{dtype}" for dtype in _RATES if dtype not in model.peak_rates)
    power = known("power_limit", model.power)
    return BoardProfile(
        name=name,
        vendor=model.vendor,
        product=model.names[0],
        memory=known("memory", model.memory),
        bandwidth=known("bandwidth", model.bandwidth),
        peak_rates=known("peak_rates", model.peak_rates or None),
        unsupported=frozenset(model.unsupported),
        launch_cost=NEUTRAL.launch_cost,
        power_idle=min(NEUTRAL.power_idle, power / 4),
        power_limit=power,
        thermals=NEUTRAL.thermals,
        core_clock=NEUTRAL.core_clock,
        memory_clock=NEUTRAL.memory_clock,
        pcie=known("pcie", _pcie(model)),
        link=_link(model, assumed),
        numa_nodes=NEUTRAL.numa_nodes,
        compute_units=model.compute_units,
        arch=model.arch[0] if model.arch else None,
        slices=tuple(_slices(model.slices)),
        assumed=frozenset(assumed),
        unverified=frozenset(_unverified(model.unverified)),
        sources=(*model.sources, f"strength: {model.strength}"),
    )


def _pcie(model: BoardModel) -> Pcie | None:
    if model.pcie_generation is None or model.pcie_lanes is None:
        return None
    return Pcie(generation=model.pcie_generation, lanes=model.pcie_lanes)


def _link(model: BoardModel, assumed: set[str]) -> ChipLink | None:
    if model.link_kind is None:
        return None
    if model.link_bandwidth is None:
        assumed.add("link.bandwidth")
        return ChipLink(kind=model.link_kind, bandwidth=NEUTRAL.link_bandwidth)
    return ChipLink(kind=model.link_kind, bandwidth=model.link_bandwidth)


def _slices(names: tuple[str, ...]) -> Iterator[Slice]:
    """Slices by NVIDIA's MIG names: <compute sevenths>g.<GiB>gb."""
    for name in names:
        share, _, memory = name.partition("g.")
        yield Slice(
            name=name, memory=int(memory.removesuffix("gb")) * _GIB, compute_share=int(share) / 7
        )


def _unverified(names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        head, _, tail = name.partition(".")
        attribute = _ATTRIBUTES.get(head)
        if attribute is not None:
            yield f"{attribute}.{tail}" if tail else attribute
