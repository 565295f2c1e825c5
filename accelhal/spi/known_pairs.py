"""What sets of known versions say of two components as found; the rule is the same for vendors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from accelhal.facts.compatibility import Exclusion, KnownSet, PairState, PairVerdict
from accelhal.facts.sources import Source, Strength
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

    A pair that a set lists is OK. Where `left` is listed and `right` is older than everything listed
    with it, `right` is TOO_OLD. Everything else is UNKNOWN: newer than listed is no fault.

    Args:
        sets: rows; those without both components, or limited to something else, are passed over.
        found: component -> version, and axis ("soc") -> name.
        left: component that makes the demand.
        right: component that must meet it.
        both_ways: judge `left` by `right` too, among the rows that also admit these components.

    Returns:
        None where one of the two was not found.
    """
    if left not in found or right not in found:
        return None
    if not (is_version(found[left]) and is_version(found[right])):
        return verdict(found, left, right, PairState.UNKNOWN, "unlisted")
    rows = [
        row
        for row in sets
        if left in row.versions and right in row.versions and _applies(row.only, found)
    ]
    demands = [row for row in rows if admits(row.versions[left], found[left])]
    listed = [row for row in demands if row.enough and admits(row.versions[right], found[right])]
    if listed:
        return verdict(found, left, right, PairState.OK, "listed", rows=listed)
    lacking = _older(demands, right, found)
    if lacking:
        return verdict(found, left, right, PairState.TOO_OLD, "minimum", change=right, rows=lacking)
    if both_ways is not None:
        others = [
            row
            for row in rows
            if admits(row.versions[right], found[right])
            and all(_same(row, component, found) for component in both_ways)
        ]
        behind = _older(others, left, found)
        if behind:
            return verdict(
                found, left, right, PairState.TOO_OLD, "minimum", change=left, rows=behind
            )
    return verdict(found, left, right, PairState.UNKNOWN, "unlisted", rows=demands)


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


def verdict(
    found: Mapping[str, str],
    left: str,
    right: str,
    state: PairState,
    rule: str,
    *,
    change: str | None = None,
    rows: Sequence[KnownSet] = (),
) -> PairVerdict:
    """A verdict over two components; what is wanted, and why, comes from the rows."""
    component = change or right
    wanted = () if state is PairState.OK else _merged(row.versions[component] for row in rows)
    return PairVerdict(
        left=left,
        right=right,
        found={left: found[left], right: found[right]},
        state=state,
        rule=rule,
        change=change,
        wanted=wanted,
        sources=_sources(rows),
    )


def _older(rows: Sequence[KnownSet], component: str, found: Mapping[str, str]) -> list[KnownSet]:
    """The rows that say that a component is too old; general knowledge says nothing."""
    sure = [row for row in rows if row.source.strength is not Strength.UNVERIFIED]
    needed = [
        row
        for row in sure
        if not row.enough and is_below(row.versions[component], found[component])
    ]
    if needed:
        return needed
    known = [row for row in rows if row.enough]
    below = all(is_below(row.versions[component], found[component]) for row in known)
    return known if below and any(row in sure for row in known) else []


def _applies(only: Mapping[str, tuple[str, ...]], found: Mapping[str, str]) -> bool:
    return all(axis in found and named(names, found[axis]) for axis, names in only.items())


def _same(row: KnownSet, component: str, found: Mapping[str, str]) -> bool:
    return component in row.versions and admits(row.versions[component], found.get(component, ""))


def _merged(ranges: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for several in ranges for one in several))


def _sources(rows: Sequence[KnownSet]) -> tuple[Source, ...]:
    return tuple(dict.fromkeys(row.source for row in rows))
