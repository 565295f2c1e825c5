"""Which drivers, toolkits, wheels of torch and boards go together: compatibility.json."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from accelhal.facts.compatibility import (
    BuildTargets,
    Compatibility,
    KnownSet,
    PairState,
    PairVerdict,
)
from accelhal.facts.sources import Source
from accelhal.spi.compatibility_tables import CompatibilityTables, read_compatibility
from accelhal.spi.known_pairs import judge_exclusions, judge_pair
from accelhal.spi.versions import admits, is_version, release_numbers, version_key
from accelhal_cuda.architectures import arch_name, rule_for

T = TypeVar("T")

_TAG = re.compile(r"\+cu([0-9]{2,5})(?![0-9])")
_DEFAULT_PLATFORM = "x86_64"

_RUNS = ("compiled", "portable")

COMPONENTS = {
    "driver": 'the loaded kernel module ("580.65.06")',
    "toolkit": 'the CUDA release that the program was built with ("12.8"), where torch names none',
    "torch": 'with its local part ("2.9.1+cu128")',
    "arch": 'one board\'s architecture or compute capability ("sm_86", "8.6")',
    "arch_list": 'what torch.cuda.get_arch_list() says, joined by spaces ("sm_75 compute_120")',
    "platform": f'machine of the wheel; {_DEFAULT_PLATFORM} where absent ("aarch64")',
    "compat": 'libcuda of cuda-compat, where programs take it before the driver\'s ("575.57.08")',
    "fabric_manager": "the fabric manager that runs",
}


@cache
def rows() -> Compatibility:
    """The rows of compatibility.json."""
    return read_compatibility(Path(__file__).with_suffix(".json"))


def judge(found: Mapping[str, str]) -> tuple[PairVerdict, ...]:
    """What is known of components as found; see COMPONENTS."""
    seen = dict(found)
    if "arch" in seen:
        seen["arch"] = arch_name(seen["arch"])
    if "toolkit" not in seen and (toolkit := toolkit_of(seen.get("torch", ""))):
        seen["toolkit"] = toolkit
    verdicts = (_toolkit(seen), _architecture(seen), _fabric_manager(seen))
    return (
        *(one for one in verdicts if one is not None),
        *judge_exclusions(rows().exclusions, seen),
    )


def toolkit_of(torch: str) -> str | None:
    """The CUDA release that a torch was built with, by its local part, else as PyPI has it.

    None for a build without CUDA, and for a release of which that is not known.
    """
    if tag := _TAG.search(torch):
        digits = tag[1]
        return f"{digits[:-1]}.{digits[-1]}"
    if "+" in torch or not is_version(torch):
        return None
    wheels = rows().sets["pypi_wheels"]
    listed = next((row for row in wheels if admits(row.versions["torch"], torch)), None)
    if listed is not None:
        return listed.versions["toolkit"][0]
    release = release_numbers(torch)[:2]
    around = {row.versions["toolkit"][0] for row in _around(wheels, release, _wheel_release)}
    return around.pop() if len(around) == 1 else None


def minimum_driver(toolkit: str) -> str | None:
    """The oldest driver that runs programs of a CUDA release; None for an unknown release.

    A driver of that age may lack features, and compiles no PTX of a newer release than its own:
    see `full_feature_driver`.
    """
    lowest = [
        row.versions["driver"][0].lstrip(">=")
        for row in _toolkit_rows()
        if admits(row.versions["toolkit"], toolkit)
    ]
    return min(lowest, key=version_key, default=None)


def full_feature_driver(toolkit: str) -> str | None:
    """The driver that came with a CUDA release, which has all that it needs; None if not listed."""
    for row in rows().sets["toolkit_driver"]:
        if admits(row.versions["toolkit"], toolkit):
            return row.versions["driver"][0].lstrip(">=")
    return None


def _toolkit_rows() -> tuple[KnownSet, ...]:
    """Within a major release one driver runs every minor; before 11 there was no such promise."""
    return (*rows().sets["minor_versions"], *rows().sets["toolkit_driver"])


def _toolkit(seen: Mapping[str, str]) -> PairVerdict | None:
    """Forward compatibility: a newer libcuda of cuda-compat stands for a newer driver."""
    if "compat" in seen:
        seen = {**seen, "driver": max(seen["compat"], seen.get("driver", ""), key=version_key)}
    return judge_pair(_toolkit_rows(), seen, "toolkit", "driver")


def _fabric_manager(seen: Mapping[str, str]) -> PairVerdict | None:
    if "fabric_manager" not in seen or "driver" not in seen:
        return None
    driver, manager = seen["driver"], seen["fabric_manager"]
    same = version_key(driver) == version_key(manager)
    return PairVerdict(
        left="driver",
        right="fabric_manager",
        found={"driver": driver, "fabric_manager": manager},
        state=PairState.OK if same else PairState.MISMATCH,
        rule="pinned",
        change=None if same else "fabric_manager",
        wanted=() if same else (driver,),
        sources=tuple(row.source for row in rows().sets["one_release"]),
    )


def _architecture(seen: Mapping[str, str]) -> PairVerdict | None:
    torch, build = seen.get("torch", ""), _build_of(seen)
    if "arch" not in seen or not ("arch_list" in seen or (torch and build)):
        return None
    inferred, sources = False, tuple[Source, ...]()
    if "arch_list" in seen:  # what the build itself says beats every table
        rule = rule_for(seen["arch"], seen["arch_list"].split())
    else:
        rule, sources = _table_rule(seen["arch"], torch, build, _platform(seen))
        inferred = len(sources) > 1
    verdict = PairVerdict(
        left="torch",
        right="arch",
        found={name: seen[name] for name in ("torch", "arch", "arch_list") if name in seen},
        state=PairState.UNKNOWN if rule is None else PairState.OK,
        rule=rule or "unlisted",
        inferred=inferred,
        sources=sources,
    )
    if rule == "no_code":
        wanted = _builds_for(seen["arch"], torch, _platform(seen))
        return replace(verdict, state=PairState.MISMATCH, change="torch", wanted=wanted)
    if rule == "portable":
        return _compiled_by_driver(verdict, seen)
    return verdict


def _compiled_by_driver(verdict: PairVerdict, seen: Mapping[str, str]) -> PairVerdict:
    """PTX is compiled by a driver that is as new as the toolkit: else error 222."""
    judged = judge_pair(rows().sets["toolkit_driver"], seen, "toolkit", "driver")
    if judged is None or judged.state is not PairState.TOO_OLD:
        return verdict
    return replace(
        verdict,
        state=PairState.TOO_OLD,
        change="driver",
        wanted=judged.wanted,
        sources=(*verdict.sources, *judged.sources),
    )


def _platform(seen: Mapping[str, str]) -> str:
    return seen.get("platform", _DEFAULT_PLATFORM)


def _build_of(seen: Mapping[str, str]) -> str:
    """The tag of the wheel, "" for one without CUDA, or of which that is not known."""
    toolkit = toolkit_of(seen.get("torch", "")) or seen.get("toolkit", "")
    numbers = release_numbers(toolkit)[:2]
    return "cu{}{}".format(*numbers) if len(numbers) == 2 else ""


def _table_rule(
    arch: str, torch: str, build: str, platform: str
) -> tuple[str | None, tuple[Source, ...]]:
    """The rule for a build that is listed, or that the releases on both sides agree about."""
    listed = [row for row in rows().builds if row.build == build and row.platform == platform]
    release = release_numbers(torch)[:2]
    for row in listed:
        if _build_release(row) == release:
            return _rule_of(arch, row), (row.source,)
    around = _around(listed, release, _build_release)
    told = {_rule_of(arch, row) for row in around}
    return (told.pop(), tuple(row.source for row in around)) if len(told) == 1 else (None, ())


def _rule_of(arch: str, row: BuildTargets) -> str | None:
    return rule_for(arch, (*row.targets, *row.portable))


def _builds_for(arch: str, torch: str, platform: str) -> tuple[str, ...]:
    """Builds of this release with code for a board ("cu126"), else of the next ("2.7+cu128")."""
    tags = dict.fromkeys(row.build for row in rows().builds)
    same = [tag for tag in tags if _table_rule(arch, torch, tag, platform)[0] in _RUNS]
    if same:
        return tuple(same)
    newer = [
        row
        for row in rows().builds
        if row.platform == platform
        and _build_release(row) > release_numbers(torch)[:2]
        and _rule_of(arch, row) in _RUNS
    ]
    first = min(map(_build_release, newer), default=())
    return tuple(f"{row.release}+{row.build}" for row in newer if _build_release(row) == first)


def _wheel_release(row: KnownSet) -> tuple[int, ...]:
    return release_numbers(row.versions["torch"][0])


def _build_release(row: BuildTargets) -> tuple[int, ...]:
    return release_numbers(row.release)


def _around(
    known: Iterable[T], release: tuple[int, ...], release_of: Callable[[T], tuple[int, ...]]
) -> list[T]:
    """The nearest rows before and after a release; none where one side has none."""
    ordered = sorted(known, key=release_of)
    older = [row for row in ordered if release_of(row) < release]
    newer = [row for row in ordered if release_of(row) > release]
    return [older[-1], newer[0]] if older and newer else []


COMPATIBILITY = CompatibilityTables(rows, judge, COMPONENTS)
