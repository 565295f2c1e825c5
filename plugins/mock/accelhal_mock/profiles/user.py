"""Profiles that a user writes: a mapping, or a .json or .toml file, checked field by field."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from accelhal.errors import UsageError, did_you_mean
from accelhal.facts.byte_size import parse_size
from accelhal_mock.profiles.neutral import NEUTRAL
from accelhal_mock.profiles.profile import BoardProfile, ChipLink, Pcie, Slice, Thermals


def read_profile(path: Path) -> BoardProfile:
    """The profile in a file.

    Raises:
        UsageError: the file cannot be read, or what it says is no profile.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise _wrong(str(path), f"it cannot be read: {error.strerror}", "check the path") from error
    try:
        content = _toml(text) if path.suffix == ".toml" else json.loads(text)
    except ValueError as error:
        raise _wrong(str(path), f"it cannot be parsed: {error}", "correct its syntax") from error
    if not isinstance(content, dict):
        raise _wrong(str(path), "it holds no table", 'write {"name": ..., "memory": ...}')
    return profile_from_mapping(content, str(path))


def _toml(text: str) -> Any:
    try:
        reader = importlib.import_module("tomllib")
    except ModuleNotFoundError:
        raise UsageError(
            "profiles in TOML need Python 3.11 or newer",
            operation="install",
            hint="write the profile as .json",
        ) from None
    return reader.loads(text)


def profile_from_mapping(content: Mapping[str, Any], source: str = "profile") -> BoardProfile:
    """The profile that a mapping describes; its keys are the attributes of BoardProfile.

    name, memory (bytes, or "80GiB"), bandwidth (bytes a second) and peak_rates are required; the
    rest has neutral values. `assumed` names more attributes whose values are none of the board's.

    Raises:
        UsageError: a field is missing, unknown or wrong; it is named.
    """
    for name in content:
        if name not in _READERS:
            raise _unknown(source, name, _READERS)
    for name in REQUIRED:
        if name not in content:
            raise _wrong(source, f"it lacks the field {name!r}", f"required: {', '.join(REQUIRED)}")
    values: dict[str, Any] = {
        name: getattr(NEUTRAL, name) for name in _OPTIONAL_FIGURES if name not in content
    }
    assumed = frozenset(values) | _names(_Field(source, "assumed"), content.get("assumed", ()))
    for name, value in content.items():
        values[name] = _READERS[name](_Field(source, name), value)
    values.setdefault("vendor", "user")
    values.setdefault("product", values["name"])
    profile = BoardProfile(
        **{**values, "assumed": assumed, "sources": (source, *values.get("sources", ()))}
    )
    if profile.power_idle > profile.power_limit:
        raise _wrong(source, "'power_idle' is above 'power_limit'", "give both, in watts")
    return profile


@dataclass(frozen=True)
class _Field:
    """A field that is being read, for its errors."""

    source: str
    name: str

    def wrong(self, value: object, wanted: str) -> UsageError:
        return _wrong(
            self.source,
            f"field {self.name!r} must be {wanted}, not {value!r}",
            f"correct {self.name!r}",
        )


def _text(at: _Field, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise at.wrong(value, "a text")
    return value


def _positive(at: _Field, value: Any) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 < value < math.inf:
        raise at.wrong(value, "a number above 0")
    return float(value)


def _count(at: _Field, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise at.wrong(value, "a whole number above 0")
    return value


def _size(at: _Field, value: Any) -> int:
    return parse_size(value, f"{at.source}: {at.name}")


def _rates(at: _Field, value: Any) -> dict[str, float]:
    if not isinstance(value, Mapping) or not value:
        raise at.wrong(value, 'a table of rates by element type, {"float32": 19.5e12}')
    return {
        str(dtype): _positive(_Field(at.source, f"{at.name}.{dtype}"), rate)
        for dtype, rate in value.items()
    }


def _names(at: _Field, value: Any) -> frozenset[str]:
    if not isinstance(value, (list, tuple, set, frozenset)):
        raise at.wrong(value, "a list of names")
    return frozenset(str(item) for item in value)


def _part(
    cls: type[Any], readers: Mapping[str, Callable[[_Field, Any], Any]]
) -> Callable[..., Any]:
    """A reader of a table that makes one of the profile's parts."""

    def read(at: _Field, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise at.wrong(value, f"a table with {', '.join(readers)}")
        for name in value:
            if name not in readers:
                raise _unknown(at.source, f"{at.name}.{name}", readers)
        for name in readers:
            if name not in value:
                raise _wrong(
                    at.source,
                    f"it lacks the field '{at.name}.{name}'",
                    f"{at.name} needs {', '.join(readers)}",
                )
        return cls(
            **{
                name: reader(_Field(at.source, f"{at.name}.{name}"), value[name])
                for name, reader in readers.items()
            }
        )

    return read


def _list(at: _Field, value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise at.wrong(value, "a list")
    return list(value)


_read_slice = _part(Slice, {"name": _text, "memory": _size, "compute_share": _positive})


def _slices(at: _Field, value: Any) -> tuple[Slice, ...]:
    if not isinstance(value, (list, tuple)):
        raise at.wrong(value, "a list of tables")
    return tuple(
        _read_slice(_Field(at.source, f"{at.name}[{i}]"), item) for i, item in enumerate(value)
    )


_READERS: Mapping[str, Callable[[_Field, Any], Any]] = {
    "name": _text,
    "vendor": _text,
    "product": _text,
    "memory": _size,
    "bandwidth": _positive,
    "peak_rates": _rates,
    "unsupported": _names,
    "launch_cost": _positive,
    "power_idle": _positive,
    "power_limit": _positive,
    "thermals": _part(Thermals, {field.name: _positive for field in fields(Thermals)}),
    "core_clock": _positive,
    "memory_clock": _positive,
    "pcie": _part(Pcie, {"generation": _count, "lanes": _count}),
    "link": _part(ChipLink, {"kind": _text, "bandwidth": _positive}),
    "numa_nodes": _count,
    "compute_units": _count,
    "arch": _text,
    "slices": _slices,
    "assumed": _names,
    "unverified": _names,
    "sources": lambda at, value: tuple(_text(at, item) for item in _list(at, value)),
}
REQUIRED = ("name", "memory", "bandwidth", "peak_rates")
_OPTIONAL_FIGURES = (
    "launch_cost",
    "power_idle",
    "power_limit",
    "thermals",
    "core_clock",
    "memory_clock",
    "pcie",
    "numa_nodes",
)


def _unknown(source: str, name: str, known: Mapping[str, Any]) -> UsageError:
    did = did_you_mean(name.rpartition(".")[2], known)
    return _wrong(source, f"there is no field {name!r}", f"{did}fields: {', '.join(known)}")


def _wrong(source: str, reason: str, hint: str) -> UsageError:
    return UsageError(f"{source}: {reason}", operation="install", hint=hint)
