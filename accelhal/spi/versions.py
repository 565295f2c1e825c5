"""Versions as the vendors spell them: one order over all of them, and ranges in it.

`packaging` refuses most of these spellings ("8.3.RC2.beta1", "13.2 Update 1", "6.2.0-1").
"""

from __future__ import annotations

import re
from collections.abc import Iterable

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
_OPERATORS = (">=", "<=", ">", "<")


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


def release_numbers(text: str) -> tuple[int, ...]:
    """The numbers before the first word: (8, 3) of "8.3.RC2". Empty where there are none."""
    found = re.match(r"[0-9]{1,18}(?:\.[0-9]{1,18})*", _body(text))
    return tuple(map(int, found[0].split("."))) if found else ()


def admits(ranges: Iterable[str], version: str) -> bool:
    """Whether a version lies in one of some ranges.

    A range is a version, a prefix ("25.5.*"), or bounds joined by commas (">=7.0, <=8.0"); "*" is
    every version.
    """
    return any(all(_admits(part.strip(), version) for part in one.split(",")) for one in ranges)


def is_below(ranges: Iterable[str], version: str) -> bool:
    """Whether a version is older than everything in some ranges; never so without ranges."""
    found = [any(_is_below(part.strip(), version) for part in one.split(",")) for one in ranges]
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


def _prefix(part: str) -> tuple[int, ...] | None:
    """The numbers of "25.0.*"; None where a range is no prefix."""
    if part == "*":
        return ()
    return release_numbers(part[:-2]) if part.endswith(".*") else None


def _padded(version: str, length: int) -> tuple[int, ...]:
    return (*release_numbers(version), *(0,) * length)[:length]


def _bound(part: str) -> tuple[str, str]:
    """("<=", "8.0") of "<=8.0"; ("", "8.0") of "8.0"."""
    operator = next((known for known in _OPERATORS if part.startswith(known)), "")
    return operator, part[len(operator) :]


def _admits(part: str, version: str) -> bool:
    prefix = _prefix(part)
    if prefix is not None:
        return _padded(version, len(prefix)) == prefix
    operator, bound = _bound(part)
    found, limit = version_key(version), version_key(bound)
    return {
        ">=": found >= limit,
        "<=": found <= limit,
        ">": found > limit,
        "<": found < limit,
    }.get(operator, found == limit)


def _is_below(part: str, version: str) -> bool:
    prefix = _prefix(part)
    if prefix is not None:
        return _padded(version, len(prefix)) < prefix
    operator, bound = _bound(part)
    if operator in ("<", "<="):
        return False
    found, limit = version_key(version), version_key(bound)
    return found <= limit if operator == ">" else found < limit
