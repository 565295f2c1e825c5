"""What this process is allowed to see: the visible-devices variables, entry by entry."""

from __future__ import annotations

from collections.abc import Iterator

from accelhal.doctor.facts import Facts
from accelhal.doctor.presence import board_nodes, driver_boards, is_here
from accelhal.facts import Finding, FindingState
from accelhal.host.visible_devices import (
    Mask,
    MaskEntryProblem,
    MaskProblem,
    active_mask,
    matched,
)
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
    MaskProblem.UNKNOWN: "mask.unknown",
    MaskProblem.AMBIGUOUS: "mask.ambiguous",
}


def _masks(facts: Facts) -> Iterator[Finding]:
    looked = False
    for spec in facts.specs:
        # One node a board: the bus may show one function for a card of two devices.
        count = len(board_nodes(spec, facts)) or len(driver_boards(spec, facts)) or None
        mask = active_mask(spec.visible_devices, facts.variables, count)
        if mask is not None and not _is_anothers(mask.variable, spec, facts):
            looked = True
            yield _judge(spec, _looked_up(mask, spec, facts), count, facts)
        for finding in _of_workers(spec, mask, facts):
            looked = True
            yield finding
    if not looked:
        yield Finding(_ID, "mask.unset", FindingState.OK)


def _is_anothers(variable: str, spec: BackendSpec, facts: Facts) -> bool:
    """Whether it is another vendor's own, and no board is here that would read it too."""
    if is_here(spec, facts):
        return False
    first = {one.visible_devices[0].variable for one in facts.specs if one.visible_devices}
    return variable in first and variable != spec.visible_devices[0].variable


def _looked_up(mask: Mask, spec: BackendSpec, facts: Facts) -> Mask:
    """The mask with its identifiers held against the boards and slices, where all are known."""
    readings = driver_boards(spec, facts)
    if mask.problem is not None or not readings or all(one.isdecimal() for one in mask.entries):
        return mask
    names = [reading.board.uuid for reading in readings]
    names += [slice_.key.value for one in readings for slice_ in one.partitions or ()]
    cut = [one for one in readings if one.details is None or one.details.partitioned is not False]
    if None in names or any(one.partitions is None for one in cut):
        return mask
    return matched(mask, [name for name in names if name is not None], abbreviated=True)


def _of_workers(spec: BackendSpec, mask: Mask | None, facts: Facts) -> Iterator[Finding]:
    """Daemons whose workers see other devices than this process."""
    if not is_here(spec, facts):
        return
    for daemon, variables in facts.record.worker_variables.items():
        for variable in dict.fromkeys(one.variable for one in spec.visible_devices):
            own, theirs = facts.variables.get(variable), variables.get(variable)
            if own != theirs:
                yield Finding(
                    _ID,
                    "mask.differs",
                    FindingState.FAIL,
                    {
                        "variable": variable,
                        "own": "unset" if own is None else own,
                        "daemon": daemon,
                        "theirs": "unset" if theirs is None else theirs,
                    },
                    spec.name,
                    {variable: own or "", f"{variable} of {daemon}": theirs or ""},
                    ("ray stop", "ray start --head"),
                    disturbs=True,
                )
                return


def _judge(spec: BackendSpec, mask: Mask, count: int | None, facts: Facts) -> Finding:
    present = is_here(spec, facts)
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
    explanation="The variable is read as the vendor's runtime reads it: the first entry that is no "
    "device ends the list, and one named twice empties it. Numbers count what this process has, in "
    "a container from 0. A list that hides every board is a failure, one that is cut short a "
    "warning, a sound one is only shown. Workers of a daemon keep the variable that it was started "
    "with: one that differs is a failure; start the daemon anew after a change.",
)
