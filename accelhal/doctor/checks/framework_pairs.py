"""Whether frameworks, toolkits and chips go together, by what builds say and by the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from accelhal.doctor.board_names import board_name
from accelhal.doctor.facts import Facts
from accelhal.doctor.frameworks import CHIP_AXES, components, sources_of, tables_of
from accelhal.doctor.presence import of_each_vendor
from accelhal.facts import BoardInfo, Finding, FindingState
from accelhal.facts.compatibility import PairState, PairVerdict
from accelhal.management.models import board_model
from accelhal.spi import BackendSpec
from accelhal.spi.compatibility_tables import CompatibilityTables
from accelhal.spi.doctor import Check, NotShownError, VendorHost

_ARCH_ID = "framework.arch"
_MATCH_ID = "framework.match"

_NOT_FRAMEWORKS = frozenset({"driver", "firmware"})
"""Components that the driver's own checks judge."""

_STATES = {
    PairState.OK: FindingState.OK,
    PairState.UNKNOWN: FindingState.UNKNOWN,
    PairState.TOO_OLD: FindingState.FAIL,
    PairState.MISMATCH: FindingState.FAIL,
}


def _commands(verdict: PairVerdict, vendor: VendorHost) -> tuple[str, ...]:
    if verdict.change in _NOT_FRAMEWORKS:
        return vendor.mend(verdict) or vendor.install
    return vendor.install_framework(verdict) or vendor.mend(verdict)


# ---- framework.arch


def _arch(facts: Facts) -> Iterator[Finding]:
    yield from of_each_vendor(_ARCH_ID, facts, _judge_arch)


def _judge_arch(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Iterator[Finding]:
    tables = tables_of(spec)
    if tables is None or not CHIP_AXES & tables.components.keys():
        return
    found = components(spec, facts, tables)
    told = _told_by_build(spec, facts)
    if told:
        found["arch_list"] = " ".join(told)
    chips = _chips(spec, vendor, facts, tables)
    if not chips:
        raise NotShownError("the boards' models")
    for (axis, chip), names in chips.items():
        verdicts = [one for one in tables.judge({**found, axis: chip}) if one.right == axis]
        yield from _of_chip(verdicts, chip, names, spec, vendor)


def _told_by_build(spec: BackendSpec, facts: Facts) -> tuple[str, ...]:
    """What the build itself says that it has code for; only children can ask it."""
    if not facts.deep:
        return ()
    return next(
        (one.arch_lists[spec.name] for one in facts.imports if spec.name in one.arch_lists), ()
    )


def _chips(
    spec: BackendSpec, vendor: VendorHost, facts: Facts, tables: CompatibilityTables
) -> dict[tuple[str, str], list[str]]:
    """(axis, chip) -> the boards that have it."""
    axis = min(CHIP_AXES & tables.components.keys())
    found: dict[tuple[str, str], list[str]] = {}
    for reading in facts.readings(spec.name):
        board = reading.board
        chip = (vendor.chip_of(board.name) or _published_chip(board)) if board.name else None
        if chip is not None and board.parent is None:
            found.setdefault((axis, chip), []).append(board_name(reading))
    return found


def _published_chip(board: BoardInfo) -> str | None:
    model = board_model(board)
    known = model is not None and model.arch and "arch" not in model.unverified
    return model.arch[0] if model is not None and known else None


def _of_chip(
    verdicts: Iterable[PairVerdict],
    chip: str,
    names: list[str],
    spec: BackendSpec,
    vendor: VendorHost,
) -> Iterator[Finding]:
    ordered = sorted(verdicts, key=lambda one: _STATES[one.state] is not FindingState.FAIL)
    if not ordered:
        yield Finding(_ARCH_ID, "arch.no_word", FindingState.OK, {"chip": chip}, spec.name)
        return
    verdict = ordered[0]
    params = {**_pair(verdict), "chip": chip, "boards": ", ".join(names)}
    state = _STATES[verdict.state]
    yield Finding(
        _ARCH_ID,
        _arch_code(verdict),
        state,
        params,
        spec.name,
        {**verdict.found, **sources_of(verdict)},
        commands=_commands(verdict, vendor) if state is FindingState.FAIL else (),
        confidence="likely" if verdict.inferred else "certain",
    )


def _arch_code(verdict: PairVerdict) -> str:
    if verdict.state is PairState.OK:
        return "arch.portable" if verdict.rule == "portable" else "arch.compiled"
    if verdict.state is PairState.UNKNOWN:
        return "arch.unlisted"
    if verdict.rule == "no_code":
        return "arch.no_code"
    return "arch.excluded" if verdict.rule == "excluded" else "arch.driver_old"


ARCH = Check(
    _ARCH_ID,
    "Framework",
    "whether the installed frameworks have code for these boards' chips",
    ("the boards' models", "the wheel's version", "the vendor's table; --deep: torch's own list"),
    _arch,
    depends_on=("driver.module", "framework.build"),
    explanation="A build holds compiled code for some architectures, and code that the driver "
    "compiles for newer ones. Without either, the first kernel fails. By default the vendor's "
    "table of builds and models decides, and what is not listed is unknown; under --deep torch "
    "itself is asked, which beats every table, for people build their own. Install the build that "
    "is named, or a release that still has the chip.",
)


# ---- framework.match


def _match(facts: Facts) -> Iterator[Finding]:
    yield from of_each_vendor(_MATCH_ID, facts, _judge_match)


def _judge_match(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Iterator[Finding]:
    tables = tables_of(spec)
    if tables is None:
        return
    found = components(spec, facts, tables)
    verdicts = [verdict for verdict in tables.judge(found) if _is_of_frameworks(verdict)]
    for verdict in verdicts:
        word = {
            PairState.OK: "pair.fits",
            PairState.UNKNOWN: "pair.unlisted",
            PairState.TOO_OLD: "pair.too_old",
            PairState.MISMATCH: "pair.mismatch",
        }[verdict.state]
        state = _STATES[verdict.state]
        yield Finding(
            _MATCH_ID,
            word,
            state,
            _pair(verdict),
            spec.name,
            sources_of(verdict),
            commands=_commands(verdict, vendor) if state is FindingState.FAIL else (),
            confidence="likely" if verdict.inferred else "certain",
        )
    if not verdicts:
        yield Finding(_MATCH_ID, "pair.none", FindingState.OK, device=spec.name)


def _is_of_frameworks(verdict: PairVerdict) -> bool:
    return not {verdict.left, verdict.right} & (CHIP_AXES | _NOT_FRAMEWORKS)


def _pair(verdict: PairVerdict) -> Mapping[str, str]:
    change = verdict.change or verdict.right
    other = verdict.left if change == verdict.right else verdict.right
    return {
        "change": change,
        "version": verdict.found.get(change, ""),
        "other": other,
        "other_version": verdict.found.get(other, ""),
        "wanted": " or ".join(verdict.wanted) or "another version",
        "partners": ", ".join(verdict.partners) or "none that is known",
        "left": verdict.left,
        "right": verdict.right,
    }


MATCH = Check(
    _MATCH_ID,
    "Framework",
    "whether torch, the vendor's adapter and the toolkit are of releases that go together",
    ("installed packages", "the toolkit's version", "the vendor's compatibility table"),
    _match,
    depends_on=("driver.module", "framework.build"),
    explanation="An adapter is built for one release of torch and one line of the toolkit; with "
    "another it fails at import with an undefined symbol, or later in the first operator. Judged "
    "by the table of the vendor's plugin, whose rows have their source and date; a pair that "
    "nobody lists is unknown, never wrong. Install the release that is named.",
)
