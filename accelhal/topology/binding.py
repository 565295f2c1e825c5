"""Binding this process to the CPUs and the memory near a board: numactl for every vendor."""

from __future__ import annotations

import ctypes
import os
import platform
from dataclasses import dataclass
from typing import Literal

from accelhal.errors import DeviceError, UsageError
from accelhal.facts import BoardInfo
from accelhal.host import Host
from accelhal.host.cpu_list import parse_cpu_list
from accelhal.host.pci import numa_node

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
    board: BoardInfo,
    memory: MemoryPolicy | None = "preferred",
    *,
    strict: bool = False,
    host: Host | None = None,
) -> Binding:
    """Let every thread of this process run on the CPUs of the board's NUMA node alone.

    Only CPUs that the process may use already are kept: a container's set is not left.

    Args:
        board: the board to be near to.
        memory: "preferred" takes memory of the node while there is some, "bind" takes no other,
            None leaves the policy alone.
        strict: raise where something cannot be done, instead of noting it.
        host: the host whose /sys is read; this one when None.

    Raises:
        UsageError: there is no such memory policy.
        DeviceError: strict, and something could not be done.
    """
    if memory is not None and memory not in _MODES:
        raise UsageError(
            f"there is no memory policy {memory!r}",
            operation="bind",
            hint="preferred, bind or None",
        )
    where = Host() if host is None else host
    node = board.numa_node
    if node is None and board.pci is not None:
        node = numa_node(where, board.pci)
    if node is None:
        found = Binding(None, notes=("the kernel knows no NUMA node for the board: not bound",))
    else:
        found = _bound(node, memory, where)
    if strict and found.notes:
        raise DeviceError(
            f"{board.name}: {'; '.join(found.notes)}",
            backend=board.backend,
            operation="bind",
            hint="without strict, what can be bound is bound and the rest is noted",
        )
    return found


def _bound(node: int, memory: MemoryPolicy | None, host: Host) -> Binding:
    notes = []
    near = set(parse_cpu_list(host.read_text(f"{_NODES}/node{node}/cpulist") or ""))
    cpus = near & os.sched_getaffinity(0)
    threads = 0
    if cpus:
        threads = _bind_threads(cpus)
    else:
        notes.append(f"this process may use no CPU of node {node}: its CPUs are left alone")
    if memory is not None:
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
