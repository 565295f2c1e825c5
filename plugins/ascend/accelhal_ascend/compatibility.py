"""Which drivers, releases of CANN, torch, torch_npu and Python go together: compatibility.json."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from accelhal.facts.compatibility import Compatibility, PairState, PairVerdict
from accelhal.spi.compatibility_tables import CompatibilityTables, read_compatibility
from accelhal.spi.known_pairs import judge_exclusions, judge_pair
from accelhal.spi.versions import admits, is_below, is_version, release_numbers

COMPONENTS = {
    "driver": 'the driver of the HDK, from driver/version.info ("25.2.0")',
    "firmware": 'the firmware, from firmware/version.info ("7.7.0.1.231")',
    "driver_firmware": 'the firmware that the driver names ("[7.0.0,7.7.99]")',
    "cann": 'the toolkit, from its install information ("8.3.RC2")',
    "torch": 'with or without its local part ("2.9.0+cpu")',
    "torch_npu": 'the adapter ("2.7.1.post2")',
    "python": 'the interpreter ("3.11.9")',
    "vllm": "vLLM",
    "vllm_ascend": "its Ascend plugin",
    "triton_ascend": "Triton for Ascend",
    "soc": 'one chip\'s name ("910B3", "Ascend910B3")',
}

_RANGE = re.compile(r"\[([0-9.]+),([0-9.]+)\]")

_VLLM_NEEDS = ("vllm", "torch_npu", "cann", "torch", "python", "triton_ascend")


@cache
def rows() -> Compatibility:
    """The rows of compatibility.json."""
    return read_compatibility(Path(__file__).with_suffix(".json"))


def judge(found: Mapping[str, str]) -> tuple[PairVerdict, ...]:
    """What is known of components as found; see COMPONENTS."""
    sets = rows().sets
    verdicts = (
        judge_pair(sets["cann_driver"], found, "cann", "driver"),
        _firmware(found),
        _toolkit(found),
        _torch(found),
        judge_pair(sets["python"], found, "torch", "python"),
        *(judge_pair(sets["vllm_ascend"], found, "vllm_ascend", one) for one in _VLLM_NEEDS),
    )
    return (
        *(one for one in verdicts if one is not None),
        *judge_exclusions(rows().exclusions, found),
    )


def _firmware(found: Mapping[str, str]) -> PairVerdict | None:
    """The driver names the firmware that it works with, in its version.info."""
    ranges = _RANGE.findall(found.get("driver_firmware", ""))
    if not ranges or "driver" not in found or not is_version(found.get("firmware", "")):
        return None
    wanted = tuple(f">={low}, <={high}" for low, high in ranges)
    firmware = found["firmware"]
    fits, old = admits(wanted, firmware), is_below(wanted, firmware)
    state = PairState.OK if fits else PairState.TOO_OLD if old else PairState.MISMATCH
    return PairVerdict(
        left="driver",
        right="firmware",
        found={"driver": found["driver"], "firmware": firmware},
        state=state,
        rule="listed" if fits else "minimum",
        change=None if fits else "firmware",
        wanted=() if fits else wanted,
        partners=wanted,
    )


def _toolkit(found: Mapping[str, str]) -> PairVerdict | None:
    """The adapter is built for one line of CANN; an older adapter fails on a newer CANN too."""
    seen = dict(found)
    if "torch_npu" in seen:  # it is of the same release
        seen["torch"] = _release(seen["torch_npu"])
    listed = (*rows().sets["torch_npu"], *rows().sets["vllm_ascend"])
    return judge_pair(listed, seen, "torch_npu", "cann", both_ways=("torch",))


def _torch(found: Mapping[str, str]) -> PairVerdict | None:
    """The adapter's package pins torch to its own release; a few old ones are listed otherwise."""
    verdict = judge_pair(rows().sets["torch_npu"], found, "torch_npu", "torch")
    if verdict is None or verdict.state is PairState.OK:
        return verdict
    torch, adapter = found["torch"], found["torch_npu"]
    if not (release_numbers(torch) and release_numbers(adapter)):
        return verdict
    same = release_numbers(torch)[:3] == release_numbers(adapter)[:3]
    return PairVerdict(
        left="torch_npu",
        right="torch",
        found=verdict.found,
        state=PairState.OK if same else PairState.MISMATCH,
        rule="pinned",
        change=None if same else "torch_npu",
        wanted=() if same else (f"{_release(torch)}.*",),
        partners=(_release(adapter),),
        sources=tuple(row.source for row in rows().sets["one_release"]),
    )


def _release(version: str) -> str:
    """Without its stage: "2.7.1" of "2.7.1.post2"."""
    return ".".join(map(str, release_numbers(version)[:3]))


COMPATIBILITY = CompatibilityTables(rows, judge, COMPONENTS)
