"""Versions that must go together: module and library, driver and toolkit, driver and firmware."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from accelhal.doctor.board_names import board_name
from accelhal.doctor.facts import Facts
from accelhal.doctor.frameworks import sources_of, tables_of
from accelhal.doctor.presence import of_each_vendor
from accelhal.facts import BoardReading, Finding, FindingState
from accelhal.facts.compatibility import PairState, PairVerdict
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check, NotShownError, VendorHost

_MATCH_ID = "driver.match"
_TOOLKIT_ID = "driver.toolkit"
_FIRMWARE_ID = "driver.firmware"

_DRIVER = "driver"
"""Component of every vendor's tables: the loaded driver."""

_FIRMWARE = "firmware"
"""Component of the tables of a vendor whose driver names the firmware that it works with."""


# ---- driver.match


def _match(facts: Facts) -> Iterator[Finding]:
    yield from of_each_vendor(_MATCH_ID, facts, _judge_match)


def _judge_match(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Iterator[Finding]:
    versions = facts.versions(spec.name)
    for pair in vendor.same_release:
        missing = [component for component in pair if component not in versions]
        if missing:
            raise NotShownError(f"the version of {' and of '.join(missing)}")
        one, other = pair
        params = {
            "one": one,
            "other": other,
            "one_version": versions[one],
            "other_version": versions[other],
        }
        if _is_same(versions[one], versions[other]):
            yield Finding(_MATCH_ID, "match.same", FindingState.OK, params, spec.name)
        else:
            yield Finding(
                _MATCH_ID,
                "match.differ",
                FindingState.FAIL,
                params,
                spec.name,
                {name: versions[name] for name in pair},
                commands=vendor.reload,
                needs_root=True,
                disturbs=True,
            )


def _is_same(one: str, other: str) -> bool:
    """Whether the versions agree as far as both go: some tools cut the last part off."""
    parts = zip_longest(one.split("."), other.split("."))
    return all(left == right for left, right in parts if left is not None and right is not None)


MATCH = Check(
    _MATCH_ID,
    "Driver",
    "whether the loaded kernel module and the driver's libraries are of one release",
    ("/proc/modules", "the driver's libraries"),
    _match,
    depends_on=("driver.module",),
    explanation="An upgrade replaces the libraries at once and the kernel module only when it is "
    "loaded anew; until then every new program fails. Reboot, or stop all jobs and reload the "
    "module. Nothing is said where one of the two versions is not known.",
)


# ---- driver.toolkit and driver.firmware, by the vendors' tables


def _verdicts(spec: BackendSpec, facts: Facts, right: str) -> list[PairVerdict]:
    """What the vendor's tables say of those that make a demand on `right`."""
    tables = tables_of(spec)
    if tables is None:
        return []
    found = tables.judge(facts.versions(spec.name))
    return [verdict for verdict in found if verdict.right == right]


def _toolkit(facts: Facts) -> Iterator[Finding]:
    yield from of_each_vendor(_TOOLKIT_ID, facts, _judge_toolkit)


def _judge_toolkit(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Iterator[Finding]:
    verdicts = _verdicts(spec, facts, _DRIVER)
    for verdict in verdicts:
        yield _of_verdict(verdict, _TOOLKIT_ID, FindingState.FAIL, spec, vendor)
    if verdicts:
        return
    version = facts.versions(spec.name).get(_DRIVER)
    if version is None:
        raise NotShownError("the driver's version")
    yield Finding(_TOOLKIT_ID, "toolkit.alone", FindingState.OK, {"version": version}, spec.name)


_CODES = {
    _TOOLKIT_ID: {
        PairState.OK: "toolkit.fits",
        PairState.UNKNOWN: "toolkit.unlisted",
        PairState.TOO_OLD: "toolkit.too_old",
        PairState.MISMATCH: "toolkit.mismatch",
    },
    _FIRMWARE_ID: {
        PairState.OK: "firmware.fits",
        PairState.UNKNOWN: "firmware.unlisted",
        PairState.TOO_OLD: "firmware.too_old",
        PairState.MISMATCH: "firmware.mismatch",
    },
}


def _of_verdict(
    verdict: PairVerdict,
    check_id: str,
    gravity: FindingState,
    spec: BackendSpec,
    vendor: VendorHost,
) -> Finding:
    state = {PairState.OK: FindingState.OK, PairState.UNKNOWN: FindingState.UNKNOWN}.get(
        verdict.state, gravity
    )
    change = verdict.change or verdict.right
    other = verdict.left if change == verdict.right else verdict.right
    wrong = state is gravity
    return Finding(
        check_id,
        _CODES[check_id][verdict.state],
        state,
        {
            "change": change,
            "version": verdict.found.get(change, ""),
            "other": other,
            "other_version": verdict.found.get(other, ""),
            "wanted": " or ".join(verdict.wanted) or "another version",
            "partners": ", ".join(verdict.partners) or "none",
        },
        spec.name,
        sources_of(verdict),
        commands=(vendor.mend(verdict) or vendor.install) if wrong else (),
        needs_root=wrong,
        disturbs=wrong,
        confidence="likely" if verdict.inferred else "certain",
    )


TOOLKIT = Check(
    _TOOLKIT_ID,
    "Driver",
    "whether the driver is new enough for the toolkit that programs were built with",
    ("versions of driver, toolkit and wheels", "the vendor's compatibility table"),
    _toolkit,
    depends_on=("driver.module",),
    explanation="Judged by the compatibility table of the vendor's plugin, whose rows have their "
    "source and date: a pair that is listed is fine, a driver older than the listed minimum is a "
    "failure, a pair that nobody lists is unknown. Frameworks then fall back to the CPU without a "
    "word. Update the driver, or install the build for the toolkit that this driver runs.",
)


def _firmware(facts: Facts) -> Iterator[Finding]:
    yield from of_each_vendor(_FIRMWARE_ID, facts, _judge_firmware)


def _judge_firmware(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Iterator[Finding]:
    for verdict in _verdicts(spec, facts, _FIRMWARE):
        yield _of_verdict(verdict, _FIRMWARE_ID, FindingState.WARN, spec, vendor)
    for model, readings in _by_model(facts.readings(spec.name)).items():
        versions = {board_name(reading): _firmware_of(reading) for reading in readings}
        if len(set(versions.values())) > 1:
            yield Finding(
                _FIRMWARE_ID,
                "firmware.differs",
                FindingState.WARN,
                {"model": model, "versions": ", ".join(sorted(set(versions.values())))},
                spec.name,
                versions,
                commands=vendor.install,
                needs_root=True,
                disturbs=True,
            )


def _by_model(readings: list[BoardReading]) -> dict[str, list[BoardReading]]:
    """The whole boards whose firmware is known, by name and part number."""
    found: dict[str, list[BoardReading]] = {}
    for reading in readings:
        details = reading.details
        if reading.board.parent is None and details is not None and details.firmware is not None:
            model = " ".join(filter(None, (reading.board.name, details.part_number)))
            found.setdefault(model, []).append(reading)
    return found


def _firmware_of(reading: BoardReading) -> str:
    return (reading.details.firmware or "") if reading.details is not None else ""


FIRMWARE = Check(
    _FIRMWARE_ID,
    "Driver",
    "whether the boards' firmware goes with the driver, and is the same on equal boards",
    ("versions of driver and firmware",),
    _firmware,
    depends_on=("driver.module",),
    explanation="Some drivers name the firmware that they work with; firmware outside of that is a "
    "warning. So are boards of one model and part number with different firmware. A version that "
    "is not known differs from nothing. Update the firmware with the driver, and reboot.",
)
