"""What this process is allowed to see: the visible-devices variables, entry by entry."""

from __future__ import annotations

from collections.abc import Iterator

from accelhal.doctor.facts import Facts
from accelhal.doctor.hardware import board_nodes, is_present
from accelhal.facts import Finding, FindingState
from accelhal.host.visible_devices import Mask, MaskEntryProblem, MaskProblem, active_mask
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check

_ID = "device.mask"

_CODES = {
    MaskProblem.NOT_A_DEVICE: "mask.not_a_device",
    MaskProblem.EMPTY_ENTRY: "mask.empty_entry",
    MaskProblem.NEGATIVE: "mask.negative",
    MaskProblem.OUT_OF_RANGE: "mask.out_of_range",
    MaskProblem.DUPLICATE: "mask.duplicate",
    MaskProblem.NOT_ASCENDING: "mask.not_ascending",
    MaskProblem.MIXED: "mask.mixed",
}


def _masks(facts: Facts) -> Iterator[Finding]:
    looked = False
    for spec in facts.specs:
        # One node a board: the bus may show one function for a card of two devices.
        count = len(board_nodes(spec, facts)) or None
        mask = active_mask(spec.visible_devices, facts.host.environ, count)
        if mask is not None:
            looked = True
            yield _judge(spec, mask, count, facts)
    if not looked:
        yield Finding(_ID, "mask.unset", FindingState.OK)


def _judge(spec: BackendSpec, mask: Mask, count: int | None, facts: Facts) -> Finding:
    present = is_present(spec, facts)
    if mask.problem is not None:
        return _problem(spec, mask, mask.problem, count, present)
    if not mask.entries:
        code, state = "mask.empty", FindingState.FAIL if present else FindingState.INFO
    else:
        code, state = "mask.shows", FindingState.INFO
    return _finding(
        code, state, spec, mask, commands=(f"unset {mask.variable}",) if present else ()
    )


def _problem(
    spec: BackendSpec, mask: Mask, problem: MaskEntryProblem, count: int | None, present: bool
) -> Finding:
    better = _repaired(mask, problem)
    repair = f"export {mask.variable}={better}" if better else f"unset {mask.variable}"
    return _finding(
        _CODES[problem.problem],
        FindingState.FAIL if present and not mask.entries else FindingState.WARN,
        spec,
        mask,
        entry=problem.entry,
        last=count - 1 if count else "?",
        commands=(repair,),
    )


def _repaired(mask: Mask, problem: MaskEntryProblem) -> str:
    """The value without what is wrong with it, or "" where nothing sensible is left."""
    if problem.problem is MaskProblem.DUPLICATE:
        return ",".join(dict.fromkeys(entry.strip() for entry in mask.value.split(",")))
    if problem.problem is MaskProblem.NOT_ASCENDING:
        numbers = {int(entry) for entry in mask.value.split(",") if entry.strip().isdecimal()}
        return ",".join(map(str, sorted(numbers)))
    return ",".join(mask.entries)


def _finding(
    code: str,
    state: FindingState,
    spec: BackendSpec,
    mask: Mask,
    *,
    commands: tuple[str, ...],
    **params: str | int,
) -> Finding:
    return Finding(
        _ID,
        code,
        state,
        {
            "variable": mask.variable,
            "value": mask.value,
            "kept": len(mask.entries),
            "named": len(mask.value.split(",")) if mask.value.strip() else 0,
            **params,
        },
        spec.name,
        {mask.variable: mask.value},
        commands,
    )


MASK = Check(
    _ID,
    "Devices",
    "the variables that hide devices from this process, read as the vendor's runtime reads them",
    ("the environment",),
    _masks,
    depends_on=("plugin.load",),
)
