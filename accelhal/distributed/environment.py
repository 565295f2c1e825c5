"""What a launcher tells each of its processes: the variables that torchrun sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from accelhal.errors import UsageError

RANK, WORLD_SIZE, LOCAL_RANK = "RANK", "WORLD_SIZE", "LOCAL_RANK"
MASTER_ADDR, MASTER_PORT = "MASTER_ADDR", "MASTER_PORT"

_VARIABLES = (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT)

START = "start the program with `accelhal launch --nproc N script.py`, or with torchrun"
"""The next step of a program that no launcher started."""


@dataclass(frozen=True)
class RankEnvironment:
    """This process's place among the others.

    Attributes:
        rank: its number in the world.
        world_size: processes in the world.
        local_rank: its number on this host.
        address: host of the store in which the ranks meet.
        port: the store's TCP port.
    """

    rank: int
    world_size: int
    local_rank: int
    address: str
    port: int


def read_environment(environ: Mapping[str, str]) -> RankEnvironment:
    """The place that a launcher's variables give this process.

    Raises:
        UsageError: a variable is missing, or is not what it should be; every one is named.
    """
    missing = [name for name in _VARIABLES if not environ.get(name)]
    if missing:
        raise _unusable(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set")
    world_size = _number(environ, WORLD_SIZE, range(1, 2**31))
    return RankEnvironment(
        rank=_number(environ, RANK, range(world_size)),
        world_size=world_size,
        local_rank=_number(environ, LOCAL_RANK, range(world_size)),
        address=environ[MASTER_ADDR],
        port=_number(environ, MASTER_PORT, range(2**16)),
    )


def _number(environ: Mapping[str, str], name: str, allowed: range) -> int:
    text = environ[name].strip()
    if not text.isdecimal() or int(text) not in allowed:
        raise _unusable(
            f"{name}={environ[name]!r} is not a number from {allowed.start} to {allowed.stop - 1}"
        )
    return int(text)


def _unusable(reason: str) -> UsageError:
    return UsageError(
        f"this process does not know its place among the ranks: {reason}",
        operation="distributed.init",
        hint=START,
    )
