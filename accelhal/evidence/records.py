"""Several looks at one host's software and settings made one; what was seen first stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from accelhal.evidence.environment import Environment
from accelhal.facts.host_record import HostRecord

_ONE_AFTER_ANOTHER = ("kernel_log", "messages")
"""Of these, what a later look has comes after."""


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
    known = {board.address for board in one.boards}
    more = tuple(board for board in other.boards if board.address not in known)
    fuller = one if one.versions or not other.versions else other
    return replace(fuller, boards=(*one.boards, *more))


def _joined(name: str, one: Any, other: Any) -> Any:
    if one is None or other is None:
        return one if other is None else other
    if isinstance(one, Mapping):
        return {**other, **one}
    if name in _ONE_AFTER_ANOTHER:
        return (*one, *(line for line in other if line not in set(one)))
    if isinstance(one, tuple):
        return one or other
    return one
