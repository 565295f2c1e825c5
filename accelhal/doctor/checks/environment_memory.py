"""Memory that the processes of one job share through the host."""

from __future__ import annotations

from collections.abc import Iterator

from accelhal.doctor.facts import Facts
from accelhal.doctor.presence import board_nodes, present_specs
from accelhal.doctor.thresholds import SHARED_MEMORY_AMPLE, SHARED_MEMORY_LEAST
from accelhal.facts import Finding, FindingState
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check, NotShownError

_ID = "env.shm"
_MIB = 1 << 20


def _shared_memory(facts: Facts) -> Iterator[Finding]:
    ranks = max((_boards(spec, facts) for spec in present_specs(facts)), default=0)
    if ranks < 2:
        yield Finding(_ID, "shm.no_ranks", FindingState.OK)
        return
    size = facts.record.shared_memory
    if size is None:
        raise NotShownError("the size of /dev/shm", commands=("df -h /dev/shm",))
    if size < SHARED_MEMORY_LEAST * ranks:
        code, state = "shm.small", FindingState.FAIL
    elif size < SHARED_MEMORY_AMPLE * ranks:
        code, state = "shm.tight", FindingState.WARN
    else:
        code, state = "shm.ample", FindingState.OK
    wanted = SHARED_MEMORY_AMPLE * ranks // _MIB
    commands = (
        f"docker run --shm-size={wanted}m <image> <command>",
        "docker run --ipc=host <image> <command>",
        f"sudo mount -o remount,size={wanted}m /dev/shm",
    )
    yield Finding(
        _ID,
        code,
        state,
        {"size": size // _MIB, "ranks": ranks, "wanted": wanted},
        evidence={"/dev/shm": f"{size} bytes"},
        commands=commands if state is not FindingState.OK else (),
        needs_root=state is not FindingState.OK and not facts.contained,
        disturbs=state is not FindingState.OK,
    )


def _boards(spec: BackendSpec, facts: Facts) -> int:
    whole = [one for one in facts.readings(spec.name) if one.board.parent is None]
    return max(len(whole), len(board_nodes(spec, facts)))


SHARED = Check(
    _ID,
    "Environment",
    "whether /dev/shm is large enough for a rank on each board",
    ("/dev/shm",),
    _shared_memory,
    explanation="Ranks of one host and the workers that load data exchange it through /dev/shm, of "
    "which a container has 64 MiB unless told otherwise. Less than 64 MiB a board ends jobs on all "
    "boards with bus errors or 'no space left'; less than 128 MiB a board, 1 GiB for eight, is "
    "a warning. One board needs no exchange. Start the container with --shm-size or --ipc=host.",
)
