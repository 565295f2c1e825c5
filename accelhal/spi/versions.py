"""Versions as the vendors spell them: one order over all of them, and ranges in it.

`packaging` refuses most of these spellings ("8.3.RC2.beta1", "13.2 Update 1", "6.2.0-1").
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

VersionKey = tuple[tuple[int, int, str], ...]

_STAGES = {
    "dev": -4,
    "alpha": -3,
    "a": -3,
    "beta": -2,
    "b": -2,
    "rc": -1,
    "post": 1,
    "update": 1,
    "u": 1,
}
"""Words in versions, by rank: below 0 before the release itself, above it after."""

_RELEASE, _NUMBER = 0, 2
"""Ranks of the end of a version and of a further number: 1.0rc1 < 1.0 < 1.0.post1 < 1.0.1."""

_ELEMENT = re.compile(
    rf"[.\-_ ]*(?:([0-9]+)|({'|'.join(sorted(_STAGES, key=len, reverse=True))})"
    r"(?![a-z])[.\-_ ]?([0-9]*))"
)
_REVISION = re.compile(r"(?<=[0-9])-[0-9]+$")
_SPELLINGS_KEPT = 1024
"""A table compares one version with all of its rows; the largest has under 300 spellings."""

_HOLDS: Mapping[str, Callable[[VersionKey, VersionKey], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "": operator.eq,
}
"""By the operator that a bound begins with; the longer ones first."""


@lru_cache(_SPELLINGS_KEPT)
def version_key(text: str) -> VersionKey:
    """A key that puts versions in order; any text has one.

    A local part ("+cpu"), a package's revision ("-1" at the end), trailing zeros and whatever
    follows an unknown word do not count.
    """
    elements: list[tuple[int, int, str]] = []
    body = _body(text)
    position = 0
    while (match := _ELEMENT.match(body, position)) is not None:
        number, stage, stage_number = match.groups()
        if stage:
            _drop_zeros(elements)
            elements.append(_element(_STAGES[stage], stage_number))
        else:
            elements.append(_element(_NUMBER, number))
        position = match.end()
    _drop_zeros(elements)
    return (*elements, _element(_RELEASE, ""))


def is_version(text: str) -> bool:
    """Whether a text names a version at all."""
    return _ELEMENT.match(_body(text)) is not None


@lru_cache(_SPELLINGS_KEPT)
def release_numbers(text: str) -> tuple[int, ...]:
    """The numbers before the first word: (8, 3) of "8.3.RC2". Empty where there are none."""
    found = re.match(r"[0-9]{1,18}(?:\.[0-9]{1,18})*", _body(text))
    return tuple(map(int, found[0].split("."))) if found else ()


def admits(ranges: Iterable[str], version: str) -> bool:
    """Whether a version lies in one of some ranges.

    A range is a version, a prefix ("25.5.*"), or bounds joined by commas (">=7.0, <=8.0"); "*" is
    every version.
    """
    return any(all(_admits(part, version) for part in _parts(one)) for one in ranges)


def is_below(ranges: Iterable[str], version: str) -> bool:
    """Whether a version is older than everything in some ranges; never so without ranges."""
    found = [any(_is_below(part, version) for part in _parts(one)) for one in ranges]
    return bool(found) and all(found)


def _body(text: str) -> str:
    body = text.lower().partition("+")[0].strip()
    return _REVISION.sub("", body[1:] if body[:1] == "v" else body)


def _element(rank: int, digits: str) -> tuple[int, int, str]:
    significant = digits.lstrip("0")  # compared by length, then as text: any size, no int()
    return (rank, len(significant), significant)


def _drop_zeros(elements: list[tuple[int, int, str]]) -> None:
    while elements and elements[-1] == (_NUMBER, 0, ""):
        elements.pop()


@dataclass(frozen=True)
class _Part:
    """One part of a range, taken apart.

    Attributes:
        prefix: the numbers of "25.0.*", () for "*"; None where the part is a bound or a version.
        sign: operator of _HOLDS.
        bound: key of the version after the sign.
    """

    prefix: tuple[int, ...] | None
    sign: str = ""
    bound: VersionKey = ()


@lru_cache(_SPELLINGS_KEPT)
def _parts(one: str) -> tuple[_Part, ...]:
    return tuple(_part(text.strip()) for text in one.split(","))


def _part(text: str) -> _Part:
    sign = next(known for known in _HOLDS if text.startswith(known))
    if not sign and (text == "*" or text.endswith(".*")):
        return _Part(release_numbers(text[:-2]))
    return _Part(None, sign, version_key(text[len(sign) :]))


def _padded(version: str, length: int) -> tuple[int, ...]:
    return (*release_numbers(version), *(0,) * length)[:length]


def _admits(part: _Part, version: str) -> bool:
    if part.prefix is not None:
        return _padded(version, len(part.prefix)) == part.prefix
    return _HOLDS[part.sign](version_key(version), part.bound)


def _is_below(part: _Part, version: str) -> bool:
    if part.prefix is not None:
        return _padded(version, len(part.prefix)) < part.prefix
    if part.sign in ("<", "<="):
        return False
    found = version_key(version)
    return found <= part.bound if part.sign == ">" else found < part.bound
