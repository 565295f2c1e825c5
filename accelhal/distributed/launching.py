"""Starting a program once for each local device: torchrun, and what it leaves out.

torchrun gives every process the same environment, and its own binding asks one vendor's module.
Each process is therefore started through `accelhal.distributed.worker`, which chooses its board,
binds itself near to it, and becomes the program.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
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
        UsageError: there is no such program.
        DistributedError: a process failed; the others were ended.
    """
    _check_program(what)
    torchrun = _torchrun()
    arguments = torchrun.get_args_parser().parse_args(_arguments(what))
    with _environment(_variables(what)), _own_signals():
        try:
            torchrun.run(arguments)
        except Exception as error:
            failures = getattr(error, "failures", None)
            if not failures:
                raise
            raise _failed(failures) from error


def _check_program(what: Launch) -> None:
    """Say once what every process would say, after torch was loaded."""
    program = what.command[0]
    if what.module:
        package = program.partition(".")[0]
        found = importlib.util.find_spec(package) if package else None
        if found is None and PathFinder.find_spec(package, [str(Path.cwd())]) is None:
            raise _misused(
                f"there is no module {program!r}",
                "install it, or start from the folder that it lies in; a script needs no -m",
            )
        return
    path = Path(program)
    if not path.exists():
        raise _misused(f"there is no script {program!r} in {Path.cwd()}", "-m starts a module")
    if path.is_dir() and not (path / "__main__.py").exists():
        raise _misused(f"{program!r} is a folder without __main__.py", "name the script in it")


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


@contextmanager
def _own_signals() -> Iterator[None]:
    """Leave the caller its handlers: torchrun sets some and keeps them."""
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in before.items():
                if handler is not None and signal.getsignal(number) is not handler:
                    signal.signal(number, handler)


def _failed(failures: Mapping[int, Any]) -> DistributedError:
    rank = min(failures, key=lambda number: failures[number].timestamp)
    code = failures[rank].exitcode
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    # torchrun counts those that it ended itself.
    others = sum(one.exitcode != -signal.SIGTERM for one in failures.values()) - 1
    rest = f"; {others} more failed" if others > 0 else ""
    return DistributedError(
        f"rank {rank} {how}, first of all{rest}",
        operation="launch",
        hint="its own output, above, says why",
    )


def _misused(message: str, hint: str | None) -> UsageError:
    return UsageError(message, operation="launch", hint=hint)
