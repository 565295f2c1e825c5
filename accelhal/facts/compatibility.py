"""Which versions go together, as published or seen, and what a look at such rows can say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from accelhal.facts.sources import Source


class PairState(str, Enum):
    """What is known of two versions together. A pair that nobody lists is UNKNOWN, never wrong."""

    OK = "ok"
    TOO_OLD = "too_old"
    MISMATCH = "mismatch"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class KnownSet:
    """Versions that were published, or seen, to work together.

    Attributes:
        versions: component ("driver", "torch") -> its versions in the set, as ranges of
            `accelhal.spi.versions`; any one of them.
        only: what else the set is limited to ("soc" -> names, as shell patterns).
        enough: False where the set says what is needed at least, not that it suffices.
        measured: True where the set was merely seen to work: nothing but an explicit bound (">=")
            in it makes another version too old.
        source: where it was read.
    """

    versions: Mapping[str, tuple[str, ...]]
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    enough: bool = True
    measured: bool = False
    source: Source


@dataclass(frozen=True, kw_only=True)
class BuildTargets:
    """The chips that one build of a framework has code for.

    Attributes:
        release: the framework's release ("2.9").
        build: the build's tag ("cu128").
        platform: machine that it runs on ("x86_64").
        targets: architectures with compiled code ("sm_90").
        portable: architectures with code that a driver compiles ("compute_120").
        source: where it was read.
    """

    release: str
    build: str
    platform: str
    targets: tuple[str, ...]
    portable: tuple[str, ...] = ()
    source: Source


@dataclass(frozen=True, kw_only=True)
class Exclusion:
    """Chips that some versions of a component do not run on.

    Attributes:
        component: the component ("toolkit").
        versions: its versions, as ranges.
        axis: what is excluded: "arch" or "soc".
        names: names on that axis, as shell patterns.
        instead: versions that do run there, as ranges; empty where there are none.
        source: where it was read.
    """

    component: str
    versions: tuple[str, ...]
    axis: str
    names: tuple[str, ...]
    instead: tuple[str, ...] = ()
    source: Source


@dataclass(frozen=True, kw_only=True)
class Compatibility:
    """All rows that a plugin has.

    Attributes:
        sets: table -> sets of versions that go together.
        builds: what builds have code for.
        exclusions: what does not run where.
    """

    sets: Mapping[str, tuple[KnownSet, ...]]
    builds: tuple[BuildTargets, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PairVerdict:
    """What the rows say of two components as found.

    Attributes:
        left: component that makes the demand ("toolkit").
        right: component that must meet it ("driver").
        found: both, component -> version.
        state: what is known.
        change: the component to change, where one is too old or excluded; else None.
        wanted: versions of `change` that would do, as ranges, or names of builds.
        partners: versions of `right` that are listed with `left`, whatever was found.
        rule: what decided: "listed", "minimum", "pinned" (both must be of one release), "compiled",
            "portable" (the driver compiles the code), "no_code", "excluded" or "unlisted".
        inferred: True where no row is of this very version and its neighbours agree.
        sources: of the rows that decided.
    """

    left: str
    right: str
    found: Mapping[str, str]
    state: PairState
    rule: str
    change: str | None = None
    wanted: tuple[str, ...] = ()
    partners: tuple[str, ...] = ()
    inferred: bool = False
    sources: tuple[Source, ...] = ()
