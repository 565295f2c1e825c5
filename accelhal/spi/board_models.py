"""Models of boards that a plugin knows: its extension "board_models", and the file behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from accelhal.facts.models import BoardModel
from accelhal.spi.table_files import read_table


@dataclass(frozen=True)
class BoardModels:
    """The value of the extension "board_models".

    Attributes:
        read: reads the models.
    """

    read: Callable[[], tuple[BoardModel, ...]]


def read_board_models(path: Path) -> tuple[BoardModel, ...]:
    """The models in a JSON file: {"vendor": ..., "models": [attributes of BoardModel, ...]}.

    Raises:
        UsageError: the file cannot be read, or an attribute is missing, unknown or of the wrong
            type.
    """
    return read_table(path, "board models", _parsed)


_KNOWN = {field.name: str(field.type) for field in fields(BoardModel)}


def _parsed(document: dict[str, Any]) -> tuple[BoardModel, ...]:
    return tuple(_model(row, document["vendor"]) for row in document["models"])


def _model(row: dict[str, Any], vendor: str) -> BoardModel:
    values: dict[str, Any] = {
        name: tuple(value) if type(value) is list else value for name, value in row.items()
    }
    model = BoardModel(vendor=vendor, **values)
    for name in _KNOWN:
        if not _fits(getattr(model, name), _KNOWN[name]):
            raise TypeError(f"{model.id}: {name} is {getattr(model, name)!r}")
    for name in model.unverified:
        if name.partition(".")[0] not in _KNOWN:
            raise ValueError(f"{model.id}: unverified names {name!r}, which is no attribute")
    return model


def _fits(value: Any, annotation: str) -> bool:
    """Whether a value is of the type that BoardModel's field is annotated with."""
    if value is None:
        return annotation.endswith("| None")
    kind = annotation.partition(" | ")[0]
    if kind == "tuple[str, ...]":
        return type(value) is tuple and all(type(text) is str for text in value)
    if kind == "Mapping[str, float]":
        return type(value) is dict and all(_is_positive(rate) for rate in value.values())
    return type(value) is str if kind == "str" else _is_positive(value)


def _is_positive(value: Any) -> bool:
    return type(value) in (int, float) and value > 0
