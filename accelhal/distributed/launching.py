"""Starting a program once for each local device: torchrun, and what it leaves out.

torchrun gives every process the same environment, and its own binding asks one vendor's module.
Each process is therefore started through `accelhal.distributed.worker`, which chooses its board,
binds itself near to it, and becomes the program.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from accelhal.device_name import parse_device_name
from accelhal.errors import DistributedError, UsageError
from accelhal.host.torch_install import AUTOLOAD_VARIABLE
from accelhal.registry.choosing import DEVICE_VARIABLE
from accelhal.registry.opening import find_spec

_WORKER = "accelhal.distributed.worker"

_THREADS = "OMP_NUM_THREADS"

_FREE_PORT = 0


@dataclass(frozen=True)
class Launch:
    """What to start, and where.

    Attributes:
        command: the script and its arguments.
        nproc: processes on this host.
        device: backend that the processes use ("cpu"), by ACCELHAL_DEVICE; None leaves the choice
            to each of them.
        module: the command names a module, as for `python -m`.
        nnodes: hosts.
        node_rank: number of this host.
        master_addr: host of rank 0, for several hosts.
        master_port: its port, for several hosts.
        max_restarts: how often all processes are started anew after one failed.
        bind: keep each process on the CPUs and the memory near its board.
    """

    command: tuple[str, ...]
    nproc: int
    device: str | None = None
    module: bool = False
    nnodes: int = 1
    node_rank: int = 0
    master_addr: str | None = None
    master_port: int | None = None
    max_restarts: int = 0
    bind: bool = True

    def __post_init__(self) -> None:
        if not self.command:
            raise _misused("there is no program to start", "accelhal launch --nproc 2 script.py")
        if self.nproc < 1 or self.nnodes < 1 or self.max_restarts < 0:
            raise _misused("processes and hosts are counted from 1, restarts from 0", None)
        if not 0 <= self.node_rank < self.nnodes:
            raise _misused(f"host {self.node_rank} of {self.nnodes} does not exist", "count from 0")
        if self.nnodes > 1 and not (self.master_addr and self.master_port):
            raise _misused(
                "several hosts need the address and the port of rank 0",
                "the same --master-addr and --master-port on every host",
            )
        if self.device is not None:
            name = parse_device_name(self.device)
            find_spec(name)
            if name.index is not None:
                raise _misused(
                    f"{self.device!r} is one device, and each process takes its own",
                    f"--device {name.backend}",
                )


def launch(what: Launch) -> None:
    """Start the processes, and wait until all have ended.

    Raises:
        DistributedError: a process failed; the others were ended.
    """
    torchrun = _torchrun()
    arguments = torchrun.get_args_parser().parse_args(_arguments(what))
    with _environment(_variables(what)):
        try:
            torchrun.run(arguments)
        except Exception as error:
            failures = getattr(error, "failures", None)
            if not failures:
                raise
            raise _failed(failures) from error


def _arguments(what: Launch) -> list[str]:
    if what.nnodes > 1:
        meeting = [
            f"--nnodes={what.nnodes}",
            f"--node-rank={what.node_rank}",
            f"--master-addr={what.master_addr}",
            f"--master-port={what.master_port}",
        ]
    else:
        # --standalone looks the host's own name up, which fails where no name server knows it.
        meeting = [
            "--rdzv-backend=c10d",
            f"--rdzv-endpoint=localhost:{_FREE_PORT}",
            "--local-addr=localhost",
        ]
    return [
        *meeting,
        f"--nproc-per-node={what.nproc}",
        f"--max-restarts={what.max_restarts}",
        *("--module", _WORKER),
        "bind" if what.bind else "leave",
        *(("-m",) if what.module else ()),
        *what.command,
    ]


def _variables(what: Launch) -> dict[str, str]:
    """What the processes inherit; torchrun would leave each one thread."""
    share = len(os.sched_getaffinity(0)) // what.nproc
    variables = {_THREADS: os.environ.get(_THREADS) or str(max(1, share))}
    if what.device is not None:
        variables[DEVICE_VARIABLE] = what.device
    return variables


def _torchrun() -> Any:
    """The module of torchrun; no vendor's package is loaded into the process that only waits."""
    with _environment({AUTOLOAD_VARIABLE: "0"}):
        try:
            import torch.distributed.run as torchrun
        except ImportError as error:
            raise DistributedError(
                f"torchrun cannot be imported: {error}",
                operation="launch",
                hint="install torch; `accelhal doctor --deep` says what is wrong with it",
            ) from error
    return torchrun


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _failed(failures: Mapping[int, Any]) -> DistributedError:
    rank = min(failures, key=lambda number: failures[number].timestamp)
    code = failures[rank].exitcode
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    others = len(failures) - 1
    rest = f"; {others} more failed" if others else ""
    return DistributedError(
        f"rank {rank} {how}, first of all{rest}",
        operation="launch",
        hint="its own output, above, says why",
    )


def _misused(message: str, hint: str | None) -> UsageError:
    return UsageError(message, operation="launch", hint=hint)
