"""What sets of known versions say of two components as found; the rule is the same for vendors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from accelhal.facts.compatibility import Exclusion, KnownSet, PairState, PairVerdict
from accelhal.facts.sources import Strength
from accelhal.spi.versions import admits, is_below, is_version


def judge_pair(
    sets: Iterable[KnownSet],
    found: Mapping[str, str],
    left: str,
    right: str,
    *,
    both_ways: Sequence[str] | None = None,
) -> PairVerdict | None:
    """What the sets say of two components.

    A pair that a set lists is OK. Where `left` is listed and `right` is older than everything
    listed with it, `right` is TOO_OLD, unless a newer `left` is listed with that `right`. All else
    is UNKNOWN: newer than listed is no fault.

    Args:
        sets: rows; those without both components, or limited to something else, are passed over.
        found: component -> version, and axis ("soc") -> name.
        left: component that makes the demand.
        right: component that must meet it.
        both_ways: judge `left` by `right` too, and compare only rows that admit these components.

    Returns:
        None where one of the two was not found.
    """
    if left not in found or right not in found:
        return None
    rows = [
        row
        for row in sets
        if left in row.versions and right in row.versions and _applies(row.only, found)
    ]
    demands = [row for row in rows if admits(row.versions[left], found[left])]
    partners = _merged(demands, right)

    def verdict(
        state: PairState, rule: str, why: Sequence[KnownSet], change: str | None = None
    ) -> PairVerdict:
        return PairVerdict(
            left=left,
            right=right,
            found={left: found[left], right: found[right]},
            state=state,
            rule=rule,
            change=change,
            wanted=_merged(why, change) if change else (),
            partners=partners,
            sources=tuple(dict.fromkeys(row.source for row in why)),
        )

    if not (is_version(found[left]) and is_version(found[right])):
        return verdict(PairState.UNKNOWN, "unlisted", ())
    listed = [row for row in demands if row.enough and admits(row.versions[right], found[right])]
    if listed:
        return verdict(PairState.OK, "listed", listed)
    others = [
        row
        for row in rows
        if row.enough
        and admits(row.versions[right], found[right])
        and all(_same(row, component, found) for component in both_ways or ())
    ]
    newer = any(is_below(row.versions[left], found[left]) for row in others)
    lacking = _older(demands, right, found[right])
    if lacking and not newer:
        return verdict(PairState.TOO_OLD, "minimum", lacking, right)
    behind = () if both_ways is None else _older(others, left, found[left])
    if behind:
        return verdict(PairState.TOO_OLD, "minimum", behind, left)
    return verdict(PairState.UNKNOWN, "unlisted", demands)


def judge_exclusions(
    exclusions: Iterable[Exclusion], found: Mapping[str, str]
) -> tuple[PairVerdict, ...]:
    """The components found that do not run on the chip found; nothing is said of the others."""
    return tuple(
        PairVerdict(
            left=row.component,
            right=row.axis,
            found={row.component: found[row.component], row.axis: found[row.axis]},
            state=PairState.MISMATCH,
            rule="excluded",
            change=row.component,
            wanted=row.instead,
            sources=(row.source,),
        )
        for row in exclusions
        if row.component in found
        and row.axis in found
        and row.source.strength is not Strength.UNVERIFIED
        and admits(row.versions, found[row.component])
        and named(row.names, found[row.axis])
    )


def named(patterns: Iterable[str], name: str) -> bool:
    """Whether a name fits one of some shell patterns, whatever their case."""
    return any(fnmatchcase(name.lower(), pattern.lower()) for pattern in patterns)


def _older(rows: Sequence[KnownSet], component: str, version: str) -> list[KnownSet]:
    """The rows by which a version is too old; general knowledge says nothing.

    One row that says what is needed at least is enough; of the others, none may leave it open.
    """
    below = [row for row in rows if is_below(_least(row, component), version)]
    sure = [row for row in below if row.source.strength is not Strength.UNVERIFIED]
    needed = [row for row in sure if not row.enough]
    if needed:
        return needed
    others = [row for row in rows if row.enough]
    return sure if all(row in below for row in others) else []


def _least(row: KnownSet, component: str) -> tuple[str, ...]:
    """The ranges of a row below which a version is too old."""
    ranges = row.versions[component]
    return tuple(one for one in ranges if one.startswith(">")) if row.measured else ranges


def _applies(only: Mapping[str, tuple[str, ...]], found: Mapping[str, str]) -> bool:
    return all(axis in found and named(names, found[axis]) for axis, names in only.items())


def _same(row: KnownSet, component: str, found: Mapping[str, str]) -> bool:
    return component in row.versions and admits(row.versions[component], found.get(component, ""))


def _merged(rows: Iterable[KnownSet], component: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for row in rows for one in row.versions[component]))
