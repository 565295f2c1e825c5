"""Binding this process to the CPUs and the memory near a board: numactl for every vendor."""

from __future__ import annotations

import ctypes
import os
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from accelhal.errors import DeviceError, UsageError
from accelhal.facts import BoardInfo
from accelhal.host import Host
from accelhal.host.cpu_list import parse_cpu_list
from accelhal.host.pci import numa_node

if TYPE_CHECKING:  # who asks for the topology alone opens no device
    from accelhal.facade import Device

CpuChoice = Literal["node"]
MemoryPolicy = Literal["preferred", "bind"]

_NODES = "/sys/devices/system/node"
_TASKS = "/proc/self/task"

_MODES = {"preferred": 1, "bind": 2}
"""MPOL_PREFERRED and MPOL_BIND of linux/mempolicy.h."""

_SET_MEMPOLICY = {"x86_64": 238, "aarch64": 237}
"""Number of the system call set_mempolicy, by machine (asm/unistd.h)."""


@dataclass(frozen=True)
class Binding:
    """What was bound.

    Attributes:
        node: the board's NUMA node, None where nobody knows it.
        cpus: the CPUs that the threads may now use; empty where they were left alone.
        threads: threads that were bound.
        memory: the policy that new memory of the calling thread, and of threads it starts, follows.
        notes: what was not done, and why.
    """

    node: int | None
    cpus: tuple[int, ...] = ()
    threads: int = 0
    memory: MemoryPolicy | None = None
    notes: tuple[str, ...] = ()


def bind(
    where: BoardInfo | Device,
    cpus: CpuChoice | None = "node",
    memory: MemoryPolicy | None = "preferred",
    *,
    strict: bool = False,
    dry_run: bool = False,
    host: Host | None = None,
) -> Binding:
    """Let every thread of this process run on the CPUs of the board's NUMA node alone.

    Only CPUs that the process may use already are kept: a container's set is not left. Processes
    started later inherit both.

    Args:
        where: the board, or the device on the board, to be near to.
        cpus: "node" takes the CPUs of the board's node, None leaves them alone.
        memory: "preferred" takes memory of the node while there is some, "bind" takes no other,
            None leaves the policy alone.
        strict: raise where something cannot be done, instead of noting it.
        dry_run: tell what would be bound, and bind nothing.
        host: the host whose /sys is read; this one when None.

    Raises:
        UsageError: there is no such choice of CPUs or memory policy.
        DeviceError: strict, and something could not be done.
    """
    _check(cpus, memory)
    board: BoardInfo | None
    if isinstance(where, BoardInfo):
        board, name, reason = where, where.name, ""
    else:
        found = where.find_board()
        board, name, reason = found.board, str(where), found.reason
    host = Host() if host is None else host
    node = None if board is None else _node(board, host)
    if board is None:
        binding = Binding(None, notes=(f"the board is not known, so nothing is bound: {reason}",))
    elif node is None:
        note = "the kernel knows no NUMA node for the board, so nothing is bound"
        binding = Binding(None, notes=(note,))
    else:
        binding = _bound(node, cpus, memory, host, dry_run)
    if strict and binding.notes:
        raise DeviceError(
            f"{name}: {'; '.join(binding.notes)}",
            backend=None if board is None else board.backend,
            operation="bind",
            hint="without strict, what can be bound is bound and the rest is noted",
        )
    return binding


def _check(cpus: object, memory: object) -> None:
    if cpus not in ("node", None):
        raise UsageError(
            f"there is no choice of CPUs {cpus!r}", operation="bind", hint='"node" or None'
        )
    if memory is not None and memory not in _MODES:
        raise UsageError(
            f"there is no memory policy {memory!r}",
            operation="bind",
            hint='"preferred", "bind" or None',
        )


def _node(board: BoardInfo, host: Host) -> int | None:
    if board.numa_node is not None or board.pci is None:
        return board.numa_node
    return numa_node(host, board.pci)


def _bound(
    node: int, choice: CpuChoice | None, memory: MemoryPolicy | None, host: Host, dry_run: bool
) -> Binding:
    notes = []
    cpus: set[int] = set()
    threads = 0
    if choice is not None:
        near = set(parse_cpu_list(host.read_text(f"{_NODES}/node{node}/cpulist") or ""))
        cpus = near & os.sched_getaffinity(0)
        if not cpus:
            notes.append(f"this process may use no CPU of node {node}: its CPUs are left alone")
        elif not dry_run:
            threads = _bind_threads(cpus)
    if memory is not None and not dry_run:
        refused = _set_memory_policy(memory, node)
        if refused:
            notes.append(f"memory is left alone: {refused}")
            memory = None
    return Binding(node, tuple(sorted(cpus)), threads, memory, tuple(notes))


def _bind_threads(cpus: set[int]) -> int:
    """Bind all threads, also those that start meanwhile; their number."""
    bound: set[int] = set()
    while True:
        waiting = {int(task) for task in os.listdir(_TASKS)} - bound
        if not waiting:
            return len(bound)
        for task in waiting:
            bound.add(task)
            try:
                os.sched_setaffinity(task, cpus)
            except ProcessLookupError:
                bound.discard(task)  # it has ended, and is listed no more


def _set_memory_policy(policy: MemoryPolicy, node: int) -> str:
    """Set the calling thread's policy; why not, or an empty text."""
    number = _SET_MEMPOLICY.get(platform.machine())
    if number is None:
        return f"set_mempolicy has no known number on {platform.machine()}"
    bits = 8 * ctypes.sizeof(ctypes.c_ulong)
    words = (ctypes.c_ulong * (node // bits + 1))()
    words[node // bits] = 1 << node % bits
    # The kernel reads one bit fewer than it is told.
    limit = ctypes.c_ulong(len(words) * bits + 1)
    libc = ctypes.CDLL(None, use_errno=True)
    arguments = ctypes.c_int(_MODES[policy]), ctypes.byref(words), limit
    if libc.syscall(ctypes.c_long(number), *arguments) == 0:
        return ""
    return f"set_mempolicy: {os.strerror(ctypes.get_errno())}"
