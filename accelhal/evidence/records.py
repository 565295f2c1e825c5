"""Several looks at one host's software and settings made one; what was seen first stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from accelhal.evidence.contradictions import ContradictionError
from accelhal.evidence.environment import BusBoard, Environment
from accelhal.facts.host_record import BusPort, HostRecord

_OnBus = TypeVar("_OnBus", BusBoard, BusPort)

_ONE_AFTER_ANOTHER = ("kernel_log", "messages")
"""Of these, what a later look has comes after."""

_EMPTY_IS_UNTOLD = ("modules", "iommu")
"""Tables in which an empty text says that something is there, and nothing more of it."""

_ONE_OF_A_HOST = {"kernel": "kernel", "command_line": "kernel command line"}
"""Attributes of which a running host has one -> what they are called."""


def refuse_other_record(one: HostRecord | None, other: HostRecord | None) -> None:
    """Refuse a look at a host that runs something else.

    Raises:
        ContradictionError: two kernels, or one started with two command lines.
    """
    for name, what in _ONE_OF_A_HOST.items():
        first, second = getattr(one, name, None), getattr(other, name, None)
        if first and second and first != second:
            raise ContradictionError(f"its {what} is {second!r:.80}, not {first!r:.80}")


def joined_records(one: HostRecord | None, other: HostRecord | None) -> HostRecord | None:
    """Both, part by part: tables are filled up, lines follow one another, else the first speaks."""
    if one is None or other is None:
        return one if other is None else other
    parts = {
        field.name: _joined(field.name, getattr(one, field.name), getattr(other, field.name))
        for field in fields(HostRecord)
    }
    return HostRecord(**parts)


def joined_environments(one: Environment | None, other: Environment | None) -> Environment | None:
    """Both; what lspci shows fills up an environment that was not taken on the host itself."""
    if one is None or other is None:
        return one if other is None else other
    fuller = one if one.versions or not other.versions else other
    return replace(fuller, boards=_of_each_address(one.boards, other.boards))


def _of_each_address(one: Sequence[_OnBus], other: Sequence[_OnBus]) -> tuple[_OnBus, ...]:
    """The functions of both; what the first does not tell of one, the other may."""
    more: dict[str, _OnBus] = {function.address: function for function in other}
    both: list[_OnBus] = [_filled(function, more.pop(function.address, None)) for function in one]
    both.extend(more.values())
    return tuple(both)


def _filled(one: _OnBus, other: _OnBus | None) -> _OnBus:
    if other is None:
        return one
    told = {field.name: getattr(one, field.name) for field in fields(one)}
    missing = {name: getattr(other, name) for name, value in told.items() if value is None}
    if isinstance(one, BusBoard) and isinstance(other, BusBoard):
        missing["driver_shown"] = one.driver_shown or other.driver_shown
        missing["id"] = max(one.id, other.id, key=len)  # lspci without -n shows no device's id
    return replace(one, **missing)


def _joined(name: str, one: Any, other: Any) -> Any:
    if one is None or other is None:
        return one if other is None else other
    if isinstance(one, Mapping):
        told = {key: value for key, value in one.items() if value != "" or key not in other}
        return {**other, **(told if name in _EMPTY_IS_UNTOLD else one)}
    if name in _ONE_AFTER_ANOTHER:
        known = set(one)
        return (*one, *(line for line in other if line not in known))
    if name == "ports":
        return _of_each_address(one, other)
    if isinstance(one, tuple):
        return one or other
    return one
