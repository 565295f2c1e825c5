"""The process that a launcher starts: it takes its board, goes near to it, and becomes the program.

It never imports torch: what it sets must stand before torch is loaded. Run as
`python -m accelhal.distributed.worker bind|leave [-m] program arguments…`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from accelhal.device_name import DeviceName
from accelhal.distributed.environment import LOCAL_RANK
from accelhal.errors import AccelhalError, DeviceNotFoundError, UsageError
from accelhal.facts import ProbeStatus
from accelhal.host.visible_devices import active_mask, explain
from accelhal.management.finding import board_under
from accelhal.registry import backends
from accelhal.registry.choosing import named_device
from accelhal.registry.opening import find_spec
from accelhal.spi import BackendSpec

_USAGE = 2
"""Exit code where the board cannot be taken; the launcher reports it with the rank."""


def main(arguments: Sequence[str]) -> NoReturn:
    """Take a board and run the program in the place of this process."""
    binding, *program = arguments
    try:
        take_board(_local_rank(os.environ), bind=binding == "bind")
    except AccelhalError as error:
        sys.stderr.write(f"accelhal: local rank {os.environ.get(LOCAL_RANK)}: {error}\n")
        raise SystemExit(_USAGE) from None
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-u", *program])


def take_board(local_rank: int, *, bind: bool) -> None:
    """Show this process the board of its local rank alone, and bind it near to the board.

    Where nobody knows the board or its place, nothing is bound.

    Raises:
        DeviceNotFoundError: there are fewer boards than local ranks.
    """
    spec = chosen_backend()
    if spec is None:
        return
    alone = own_device(spec, local_rank, os.environ)
    os.environ.update(alone)
    if bind:
        from accelhal.topology import bind as bind_near

        board = board_under(spec, 0 if alone else local_rank).board
        if board is not None:
            bind_near(board)


def own_device(
    spec: BackendSpec, local_rank: int, environ: Mapping[str, str], count: int | None = None
) -> dict[str, str]:
    """The variable that shows a process the device of its local rank alone; empty without one.

    Args:
        spec: the backend.
        local_rank: number of the process on this host.
        environ: where the variable may limit the boards already.
        count: boards of the host, where known.

    Raises:
        DeviceNotFoundError: there are fewer devices than local ranks.
    """
    if not spec.visible_devices:
        return {}
    mask = active_mask(spec.visible_devices, environ, count)
    shown = count if mask is None else len(mask.entries)
    if shown is not None and local_rank >= shown:
        why = "" if mask is None else f" ({explain(mask)})"
        raise DeviceNotFoundError(
            f"{spec.name} shows {shown} devices{why}, one for each local rank from 0",
            backend=spec.name,
            operation="launch",
            hint=f"--nproc {shown}, or show more devices" if shown else "show devices",
        )
    if mask is None:
        return {spec.visible_devices[0].variable: str(local_rank)}
    return {mask.variable: mask.entries[local_rank]}


def chosen_backend() -> BackendSpec | None:
    """The backend that programs started here would use, as far as that is known without torch."""
    name: DeviceName | None = named_device()
    if name is not None:
        return find_spec(name)
    for backend in backends():
        usable = backend.probe.status is ProbeStatus.AVAILABLE
        if usable and backend.spec is not None and not backend.spec.simulated:
            return backend.spec
    return None


def _local_rank(environ: Mapping[str, str]) -> int:
    text = environ.get(LOCAL_RANK, "")
    if not text.isdecimal():
        raise UsageError(f"{LOCAL_RANK}={text!r} is no number", hint="torchrun sets it")
    return int(text)


if __name__ == "__main__":
    main(sys.argv[1:])
