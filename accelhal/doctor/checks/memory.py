"""Memory that ran out: whether it was split, taken by others, hidden, or simply too little."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from accelhal.doctor.facts import Facts
from accelhal.doctor.out_of_memory import OutOfMemory, refusals
from accelhal.doctor.quantities import bytes_text
from accelhal.doctor.thresholds import CACHED_SHARE, WINDOW_SHARE
from accelhal.facts import Finding, FindingState
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check

if TYPE_CHECKING:
    from accelhal.facade import Device

_FRAGMENT, _OOM = "memory.fragment", "memory.oom"
_KEPT_LINE = 400
"""Characters of a message that a finding quotes."""


def _fragments(facts: Facts) -> Iterator[Finding]:
    for refused in refusals(facts.record.messages):
        code = _fragmentation(refused)
        if code:
            spec = _spec(refused, facts)
            commands = facts.vendor_host(spec).allocator_settings if spec else ()
            yield _finding(_FRAGMENT, code, FindingState.WARN, refused, spec, commands)


def _shortages(facts: Facts) -> Iterator[Finding]:
    for refused in refusals(facts.record.messages):
        if _fragmentation(refused):
            continue
        spec = _spec(refused, facts)
        code, commands = _shortage(refused, spec, facts)
        yield _finding(_OOM, code, FindingState.FAIL, refused, spec, commands)


def _fragmentation(refused: OutOfMemory) -> str:
    """The code where unused memory of the allocator itself would have helped, else empty."""
    unused, free, total = refused.unused, refused.free, refused.total
    if unused is None or (free is not None and refused.request <= free):
        return ""
    if free is not None and refused.request <= free + unused:
        return "fragment.split"
    if total and unused > CACHED_SHARE * total:
        return "fragment.cached"
    return ""


def _shortage(
    refused: OutOfMemory, spec: BackendSpec | None, facts: Facts
) -> tuple[str, tuple[str, ...]]:
    if refused.allowed is not None and (refused.free or 0) >= refused.request:
        return "oom.capped", ("grep -rn set_per_process_memory_fraction <program>",)
    taken = sum(used for _, used in refused.others)
    if taken and refused.request <= taken + (refused.free or 0):
        pids = ",".join(str(pid) for pid, _ in refused.others)
        return "oom.others", (f"ps -o pid,user,etime,args -p {pids}",)
    if _board_memory(refused, spec, facts) is not None:
        return "oom.window", ("accelhal devices", "accelhal doctor device.partition")
    return "oom.full", ("accelhal bench <package.module:factory> --batch-sizes 1,2,4,8",)


def _board_memory(refused: OutOfMemory, spec: BackendSpec | None, facts: Facts) -> int | None:
    """Memory of the boards, where the process saw only a part of it."""
    if spec is None or refused.total is None:
        return None
    whole = [
        reading.board.total_memory
        for reading in facts.readings(spec.name)
        if reading.board.parent is None and reading.board.total_memory
    ]
    least = min(whole, default=0)
    return least if refused.total < WINDOW_SHARE * least else None


def _spec(refused: OutOfMemory, facts: Facts) -> BackendSpec | None:
    return facts.spec(refused.device_type)


def _finding(
    check: str,
    code: str,
    state: FindingState,
    refused: OutOfMemory,
    spec: BackendSpec | None,
    commands: tuple[str, ...],
) -> Finding:
    figures = {
        "request": refused.request,
        "free": refused.free,
        "unused": refused.unused,
        "allocated": refused.allocated,
        "total": refused.total,
        "allowed": refused.allowed,
        "others": sum(used for _, used in refused.others),
    }
    index = "?" if refused.index is None else str(refused.index)
    return Finding(
        check,
        code,
        state,
        {
            "place": f"{refused.device_type}:{index}",
            **{name: "?" if v is None else bytes_text(v) for name, v in figures.items()},
        },
        spec.name if spec else None,
        {"message": refused.message[:_KEPT_LINE]},
        commands,
        confidence="likely",
    )


def judge_memory(device: Device) -> list[Finding]:
    """How this process's allocator uses a device's memory, judged by the rule of memory.fragment.

    To be called in the process of the job, on a device with a caching allocator: no other process
    can see it. A finding's texts are in `accelhal.doctor.texts.TEXTS`.

    Raises:
        UnsupportedError: the device does not count this process's memory.
    """
    stats = device.memory_stats()
    total = device.properties.total_memory
    if total is None and device.supports("memory_info"):
        total = device.mem_get_info()[1]
    if stats.reserved is None or stats.allocated is None or not total:
        return [
            Finding(_FRAGMENT, "fragment.not_counted", FindingState.UNKNOWN, device=str(device))
        ]
    unused = stats.reserved - stats.allocated
    params: dict[str, str | int | float] = {
        "unused": bytes_text(unused),
        "split": "?" if stats.inactive_split is None else bytes_text(stats.inactive_split),
        "total": bytes_text(total),
        "ooms": 0 if stats.ooms is None else stats.ooms,
    }
    held = unused > CACHED_SHARE * total
    return [
        Finding(
            _FRAGMENT,
            "fragment.held" if held else "fragment.little",
            FindingState.WARN if held else FindingState.OK,
            params,
            str(device),
            {"reserved": bytes_text(stats.reserved), "allocated": bytes_text(stats.allocated)},
            (f"accelhal.device({str(device)!r}).empty_cache()",) if held else (),
        )
    ]


FRAGMENT = Check(
    _FRAGMENT,
    "Memory",
    "memory that an allocator held in pieces when it ran out",
    ("torch's out-of-memory messages",),
    _fragments,
    explanation=(
        "A request was refused that the free memory and what the allocator itself held unused "
        "would have met together: the unused memory lies in pieces of segments that are partly "
        f"used. Likewise where the allocator held more than {CACHED_SHARE:.0%} of the board's "
        "memory unused. Let the allocator grow its segments, or ask for less at once. In the "
        "process of the job, accelhal.doctor.checks.memory.judge_memory(device) judges the live "
        "allocator; from outside nobody sees it."
    ),
)

OOM = Check(
    _OOM,
    "Memory",
    "what took the memory when a program ran out of it",
    ("torch's out-of-memory messages", "the boards' memory"),
    _shortages,
    depends_on=(_FRAGMENT,),
    explanation=(
        "In this order: pieces of the allocator (memory.fragment), a cap that the process set "
        "itself, other processes on the board, a slice or window that shows the process less than "
        "the board has, and else a model and batch that need more than there is."
    ),
)
