"""Snapshots as JSON: written whole, and read strictly, every value checked against its type."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Any, Literal, TypeVar, get_args, get_origin

from cattrs import Converter, transform_error
from cattrs.errors import BaseValidationError
from cattrs.gen import make_dict_structure_fn

from accelhal.errors import message_of
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import Evidence, HealthStatus, ProbeStatus, Relation
from accelhal.facts.boards import KeySource
from accelhal.redaction import PrivateNames, Redactor

T = TypeVar("T")

NAME = "accelhal.snapshot"
VERSION = 1
"""Of the schema. Within a version fields are only added; one that is not known is passed over."""

_SCHEMA = re.compile(rf"{re.escape(NAME)}/([0-9]+)")
_WORDS = {
    *(member.value for kind in (Relation, HealthStatus, ProbeStatus) for member in kind),
    *get_args(KeySource),
    *("container", "vm", "bare"),
}
"""Words that the reader must find again: no account or host of such a name may blot them out."""


class SnapshotError(ValueError):
    """A document that is no snapshot this version reads; the message says what is wrong with it.

    Attributes:
        hint: the next step.
    """

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.hint = hint


def write_snapshot(snapshot: Snapshot) -> str:
    """The snapshot as JSON text.

    Raises:
        ValueError: a number in it is not finite.
    """
    document = {"schema": f"{NAME}/{VERSION}", **_plain(snapshot)}
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def read_snapshot(text: str) -> Snapshot:
    """The snapshot in a JSON text.

    Raises:
        SnapshotError: it is no JSON, of another schema or a newer version, or a field is missing or
            wrong; the field is named.
    """
    try:
        document = json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise _damaged("it is nested too deep") from None
    except ValueError as error:
        raise _damaged(f"it is no JSON: {error}") from error
    if not isinstance(document, dict):
        raise _damaged("it is no JSON table")
    _check_schema(document.get("schema"))
    return checked(document, Snapshot)


def checked(document: Any, kind: type[T]) -> T:
    """The fact of a kind that plain JSON values describe.

    Raises:
        SnapshotError: a field is missing or of the wrong type; it is named.
    """
    try:
        return _converter.structure(document, kind)
    except BaseValidationError as error:
        faults = transform_error(error, path="", format_exception=_fault)
        what, _, where = faults[0].rpartition(" @ ")
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise _damaged(f"{where.lstrip('.')}: {what}{more}") from error
    except ValueError as error:
        raise _damaged(str(error)) from error


def recheck(fact: T) -> T:
    """A fact that a driver's wrapper made, if it could be written and read again.

    Raises:
        SnapshotError: a value of it has another type than its field, or is not finite.
    """
    return checked(_plain(fact), type(fact))


def redacted(snapshot: Snapshot, names: PrivateNames) -> Snapshot:
    """The snapshot without private details; what was equal stays equal, so that it still joins."""
    boards = [reading.board for evidence in snapshot.evidence for reading in evidence.boards]
    redactor = Redactor(
        PrivateNames(
            users=_personal(names.users),
            hosts=_personal(names.hosts),
            homes=names.homes,
            uuids=(*names.uuids, *(board.uuid for board in boards if board.uuid)),
            serials=(*names.serials, *(board.serial for board in boards if board.serial)),
        )
    )
    document = redactor.value(_plain(snapshot))
    return replace(checked(document, Snapshot), taken=snapshot.taken, redacted=True)


def _plain(fact: Any) -> Any:
    """The fact as JSON has it."""
    return json.loads(json.dumps(_converter.unstructure(fact)))


def _personal(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if name.lower() not in _WORDS)


def _check_schema(schema: object) -> None:
    match = _SCHEMA.fullmatch(schema) if isinstance(schema, str) else None
    if match is None:
        raise SnapshotError(
            f"its schema is {schema!r}, not {NAME}/{VERSION}",
            "give a file that `accelhal snapshot` wrote",
        )
    if int(match[1]) > VERSION:
        raise SnapshotError(
            f"it is of schema {schema}, and this accelhal reads {NAME}/{VERSION} and older",
            "update accelhal: pip install --upgrade accelhal",
        )
    if int(match[1]) < 1:
        raise _damaged(f"there is no schema {schema}")


def _damaged(reason: str) -> SnapshotError:
    return SnapshotError(reason, "take the snapshot anew: accelhal snapshot FILE")


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _fault(error: BaseException, kind: type | None) -> str:
    return "it is missing" if isinstance(error, KeyError) else message_of(error)


# ---- strict reading


def _text(value: Any, kind: type[str]) -> str:
    """A text; also a word of an enum of texts, which cattrs reads as its base class."""
    if issubclass(kind, Enum):
        word: str = _one_of({member.value: member for member in kind})(value, kind)
        return word
    return str(_of(str, value, "a text"))


def _truth(value: Any, kind: Any) -> bool:
    return bool(_of(bool, value, "true or false"))


def _count(value: Any, kind: Any) -> int:
    return int(_of(int, value, "a whole number"))


def _number(value: Any, kind: Any) -> float:
    try:
        number = float(value if type(value) is int else _of(float, value, "a number"))
    except OverflowError:  # JSON's whole numbers have no end
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{value!r:.60} is not finite")
    return number


def _one_of(choices: Mapping[str, Any]) -> Callable[[Any, Any], Any]:
    def read(value: Any, kind: Any) -> Any:
        if not isinstance(value, str) or value not in choices:
            raise ValueError(f"{value!r:.60} is none of {', '.join(choices)}")
        return choices[value]

    return read


def _of(kind: type, value: Any, wanted: str) -> Any:
    if type(value) is not kind:
        raise ValueError(f"{value!r:.60} is not {wanted}")
    return value


def _strictly(
    inner: Callable[[Any, Any], Any],
    wanted: type,
    words: str,
    made: Callable[[Any], Any],
) -> Callable[[Any, Any], Any]:
    """A hook that reads as `inner` and then `made` do, and nothing but values of a type."""

    def read(value: Any, kind: Any) -> Any:
        if not isinstance(value, wanted):
            raise ValueError(f"{value!r:.60} is not {words}")
        return made(inner(value, kind))

    return read


def _whole(evidence: Evidence) -> Evidence:
    for told in evidence.relations:
        if not 0 <= told.one < told.other < len(evidence.boards):
            raise ValueError(
                f"relations tell of boards {told.one} and {told.other} of {len(evidence.boards)}"
            )
    return evidence


def _timed(snapshot: Snapshot) -> Snapshot:
    if snapshot.taken is not None:
        try:
            datetime.fromisoformat(snapshot.taken)
        except ValueError:
            raise ValueError(f"taken is {snapshot.taken!r}, no ISO 8601 time") from None
    return snapshot


_CHECKS: Mapping[type, Callable[[Any], Any]] = {Evidence: _whole, Snapshot: _timed}
"""What more must hold of a table once its fields are read."""


def _make_converter() -> Converter:
    made = Converter(detailed_validation=True)
    for kind, hook in ((str, _text), (bool, _truth), (int, _count), (float, _number)):
        made.register_structure_hook(kind, hook)

    def word(kind: Any) -> Callable[[Any, Any], Any]:
        return _one_of({choice: choice for choice in get_args(kind)})

    def table(kind: Any) -> Callable[[Any, Any], Any]:
        check = _CHECKS.get(kind, lambda fact: fact)
        return _strictly(make_dict_structure_fn(kind, made), dict, "a table", check)

    def rows(kind: Any) -> Callable[[Any, Any], Any]:
        return _strictly(made.get_structure_hook(list[get_args(kind)[0]]), list, "a list", tuple)  # type: ignore[misc]

    def mapping(kind: Any) -> Callable[[Any, Any], Any]:
        return _strictly(made.get_structure_hook(dict[get_args(kind)]), dict, "a table", dict)  # type: ignore[misc]

    made.register_structure_hook_factory(is_dataclass, table)
    for origin, factory in ((Literal, word), (tuple, rows), (Mapping, mapping)):
        made.register_structure_hook_factory(_made_of(origin), factory)
    return made


def _made_of(origin: Any) -> Callable[[Any], bool]:
    return lambda kind: get_origin(kind) is origin


_converter = _make_converter()
