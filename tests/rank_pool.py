"""Processes that form one group of ranks, kept for many cases: starting them is what takes time."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import socket
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent

COLLECTIVE_S = 30
"""The group's limit: above what a loaded machine needs, below a case's."""

CASE_S = 120
END_S = 10

PRELOADED = ("torch", "torch._dynamo", "accelhal.parallel", "accelhal.graphs")


class RankPool:
    """`size` ranks; a case runs on the first `n` of them, in the group of those.

    A case is a module-level function of a test module; its first argument are the `Ranks`. Where
    one fails, the ranks are ended, and the next case starts new ones.
    """

    def __init__(self, size: int, folder: Path, device: str = "cpu") -> None:
        self.size = size
        self.device = device
        self._folder = folder
        self._started = 0
        self._ranks: list[tuple[Any, Any]] = []

    def run(self, case: Callable[..., Any], n: int, *arguments: Any) -> list[Any]:
        """Run a case on `n` ranks; what each returned, in order."""
        if not self._ranks:
            self._start()
        order = (case.__code__.co_filename, case.__qualname__, n, arguments)
        for _, pipe in self._ranks[:n]:
            pipe.send(order)
        answers = []
        for rank, (_, pipe) in enumerate(self._ranks[:n]):
            if not pipe.poll(CASE_S):
                answers.append((False, f"rank {rank} did not answer in {CASE_S} s"))
                continue
            try:
                answers.append(pipe.recv())
            except EOFError:
                answers.append((False, f"rank {rank} ended"))
        failures = [text for fine, text in answers if not fine]
        if failures:
            self.close()
            raise AssertionError("\n".join(failures))
        return [result for _, result in answers]

    def close(self) -> None:
        """End the ranks, where they stand."""
        for process, pipe in self._ranks:
            process.kill()
            process.join(END_S)
            pipe.close()
        self._ranks = []

    def _start(self) -> None:
        context = _context()
        self._started += 1
        store = str(self._folder / f"store-{self._started}")
        for rank in range(self.size):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_serve, args=(theirs, rank, self.size, store, self.device), daemon=True
            )
            process.start()
            theirs.close()
            self._ranks.append((process, ours))


@dataclass(frozen=True)
class Ended:
    """How a process of `run_alone` ended.

    Attributes:
        code: exit code, or minus the signal that ended it.
        answer: what the case returned, or the text of what it raised; None where it was ended.
    """

    code: int
    answer: Any


def run_alone(
    case: Callable[..., Any],
    size: int,
    *arguments: Any,
    ranks: Sequence[int] | None = None,
    **environ: str,
) -> list[Ended]:
    """Run a case in new processes with the variables of torchrun; in those of `ranks` alone."""
    port = str(free_port())
    children = []
    for rank in range(size) if ranks is None else ranks:
        variables = {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(size),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port,
            "GLOO_SOCKET_IFNAME": "lo",
            **environ,
        }
        ours, theirs = _context().Pipe()
        order = (case.__code__.co_filename, case.__qualname__, arguments)
        process = _context().Process(target=_run_alone, args=(theirs, variables, order))
        process.start()
        theirs.close()
        children.append((process, ours))
    ended = []
    for process, pipe in children:
        try:
            answer = pipe.recv() if pipe.poll(CASE_S) else None
        except EOFError:
            answer = None
        process.join(END_S)
        if process.is_alive():
            process.kill()
            process.join(END_S)
        ended.append(Ended(process.exitcode, answer))
    return ended


def _run_alone(pipe: Any, variables: dict[str, str], order: tuple[Any, ...]) -> None:
    os.environ.update(variables)
    import torch

    torch.set_num_threads(1)
    file, name, arguments = order
    try:
        answer = getattr(_module(file), name)(*arguments)
    except Exception:
        answer = traceback.format_exc()
    pipe.send(answer)
    pipe.close()
    os._exit(0)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _context() -> Any:
    # Importing torch and its compiler takes seconds: one process does, and the ranks fork it.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    return context


def _serve(pipe: Any, rank: int, size: int, store: str, device: str) -> None:
    groups = _join(rank, size, store, device)
    while True:
        file, name, n, arguments = pipe.recv()
        try:
            answer = (True, getattr(_module(file), name)(groups[n], *arguments))
        except BaseException:
            answer = (False, f"rank {rank} of {n}:\n{traceback.format_exc()}")
        pipe.send(answer)


def _join(rank: int, size: int, store: str, device: str) -> dict[int, Any]:
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    libraries = "cpu:gloo"
    if device == "mock":
        import accelhal_mock

        accelhal_mock.install(count=size, memory="64MiB", mode="python", hazards="raise")
        torch.mock.set_device(rank)
        libraries += ",mock:gloo"
    from accelhal.distributed import Ranks

    dist.init_process_group(
        libraries,
        store=dist.FileStore(store, size),
        rank=rank,
        world_size=size,
        timeout=timedelta(seconds=COLLECTIVE_S),
    )
    groups = {n: dist.new_group(range(n)) for n in range(1, size)}
    return {n: Ranks(group) for n, group in groups.items() if rank < n} | {size: Ranks()}


@cache
def _module(file: str) -> Any:
    sys.path[:0] = [str(TESTS)] if str(TESTS) not in sys.path else []
    spec = importlib.util.spec_from_file_location(f"cases_{Path(file).stem}", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
