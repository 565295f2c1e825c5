"""One simulated board: its streams, memory, faults and sensors, and the errors it raises."""

from __future__ import annotations

import math
import threading
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING

from accelhal.errors import UsageError
from accelhal_mock.profiles.profile import BoardProfile, Slice
from accelhal_mock.simulation.cost import CostModel
from accelhal_mock.simulation.error_texts import BAD_FORK, FAULT_TEXTS
from accelhal_mock.simulation.faults import Fault, FaultKind, FaultSchedule, LaunchEffects
from accelhal_mock.simulation.memory import CachingAllocator
from accelhal_mock.simulation.sensors import Sensors
from accelhal_mock.simulation.stream import Stream
from accelhal_mock.simulation.vector_clock import VectorClock, merge

if TYPE_CHECKING:
    from accelhal_mock.simulation.machine import Machine

STREAMS_PER_PRIORITY = 32
"""Streams that a board hands out, in turn, for each priority (c10/cuda/CUDAStream.cpp)."""

_ROUNDING = 1e-9
"""Seven sevenths are not quite one in floating point."""

_NAMESPACE = uuid.UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")  # RFC 9562, namespace OID


class Board:
    """A board of a machine.

    Attributes:
        machine: the machine it belongs to.
        index: its number there.
        profile: what it is.
        cost: how long work takes on it.
        memory: its memory.
        faults: what is wrong with it.
        sensors: its sensors.
        default_stream: the stream of work that names none.
        slices: the parts it is cut into.
        uuid: stable name of the board.
        serial: its serial number.
        numa_node: the node of the host it hangs on.
        pci: its address, as domain:bus:device.function.
        lock: guards the streams' time and order.
        watched: whether calls must ask `check_usable` first: before first use, after a fork, and
            while faults are armed. Otherwise launches skip all of it.
    """

    def __init__(self, machine: Machine, index: int, profile: BoardProfile, memory: int) -> None:
        self.machine = machine
        self.index = index
        self.profile = profile
        self.lock = threading.RLock()
        self.cost = CostModel(profile)
        self.memory = CachingAllocator(self, memory)
        self.faults = FaultSchedule(lambda: machine.clock.now())
        self.sensors = Sensors(self)
        self.default_stream = Stream(self, machine.next_stream_id(), 0)
        self.slices: tuple[Slice, ...] = ()
        self.uuid = str(uuid.uuid5(_NAMESPACE, f"{machine.name}:{index}:{profile.name}"))
        self.serial = f"{uuid.UUID(self.uuid).int % 10**13:013d}"
        self.pci = f"0000:{0x10 + index:02x}:00.0"
        self.numa_node = index * profile.numa_nodes // len(machine.config.profiles)
        self.watched = True
        self._streams = [self.default_stream]
        self._handed_out: dict[int, int] = {}
        self._pools: dict[int, list[Stream]] = {}
        self._revived = threading.Event()

    def __repr__(self) -> str:
        return f"{self.machine.name}:{self.index}"

    # ---- streams

    def create_stream(self, priority: int = 0) -> Stream:
        """A stream from the board's pool; after 32 of one priority the first comes again."""
        self.check_usable()
        with self.lock:
            pool = self._pools.setdefault(priority, [])
            turn = self._handed_out.get(priority, 0)
            self._handed_out[priority] = turn + 1
            if turn < STREAMS_PER_PRIORITY:
                stream = Stream(self, self.machine.next_stream_id(), len(self._streams), priority)
                pool.append(stream)
                self._streams.append(stream)
            return pool[turn % STREAMS_PER_PRIORITY]

    def current_stream(self) -> Stream:
        """The calling thread's current stream on this board; a former board has its default one."""
        boards = self.machine.boards
        if self.index < len(boards) and boards[self.index] is self:
            return self.machine.current_stream(self.index)
        return self.default_stream

    def streams(self) -> tuple[Stream, ...]:
        """All streams handed out so far, the default one first."""
        return tuple(self._streams)

    def worked(self, now: float) -> float:
        """Seconds of work done by then, over all streams: what is queued, less what is left."""
        return sum(
            stream.busy - min(stream.busy, max(0.0, stream.ready - now)) for stream in self._streams
        )

    @property
    def hung(self) -> bool:
        """Whether a stream holds work that never ends."""
        return any(math.isinf(stream.ready) for stream in self._streams)

    # ---- the host waits

    def synchronize(self) -> None:
        """Let the host wait until all streams are done.

        Raises:
            BoardError: the board failed, hangs, or a stream is being captured.
        """
        for stream in self._streams:
            if stream.capture is not None:
                stream.capture.invalidate("synchronize")
        known: VectorClock = {}
        for stream in self._streams:
            merge(known, stream.knowledge())
        self.wait(max(stream.ready for stream in self._streams), known)

    def wait(self, moment: float, clock: Mapping[int, int]) -> None:
        """Let the host wait for a moment, and learn what is then known to be done.

        Raises:
            BoardError: the board failed before or meanwhile, or the moment never comes.
        """
        self.check_usable()
        machine = self.machine
        if math.isinf(moment):
            if not machine.clock.wait_at_most(machine.watchdog, self._revived):
                raise self.error(FaultKind.HANG)
        else:
            machine.clock.wait_until(moment)
        machine.host.learn(clock)
        if self.watched:
            self.check_usable()

    # ---- faults

    @property
    def pcie_lanes(self) -> int | None:
        """Lanes that a pcie_width_drop fault leaves, or None where all are there."""
        fault = self.faults.standing(FaultKind.PCIE_WIDTH_DROP) if self.faults else None
        return fault.lanes if fault is not None else None

    def host_copy_cost(self, nbytes: int) -> float:
        """Seconds of a copy between this board and the host, over the lanes that are there."""
        return self.cost.host_copy(nbytes, self.pcie_lanes)

    def cut(self, *names: str) -> None:
        """Cut the board into slices of its profile; none puts it together again.

        Management lists the slices; the board stays one torch device.

        Raises:
            UsageError: the profile has no such slice, or they do not fit.
        """
        known = {part.name: part for part in self.profile.slices}
        for name in names:
            if name not in known:
                raise UsageError(
                    f"{self.profile.name} cannot be cut into {name!r}",
                    operation="cut",
                    hint=f"known: {', '.join(known) or 'none'}",
                )
        parts = tuple(known[name] for name in names)
        share, memory = sum(p.compute_share for p in parts), sum(p.memory for p in parts)
        if share > 1 + _ROUNDING or memory > self.profile.memory:
            raise UsageError(
                f"{', '.join(names)} do not fit on one {self.profile.name}",
                operation="cut",
                hint="their compute shares and memory must not exceed the board's",
            )
        self.slices = parts

    def inject(self, fault: Fault) -> None:
        """Arm a fault."""
        self._revived.clear()
        self.faults.inject(fault)
        self.watched = True

    def clear_faults(self) -> None:
        """Take all faults back; work that hung is done, and waits for it return."""
        self.faults.clear()
        with self.lock:
            now = self.machine.clock.now()
            for stream in self._streams:
                if math.isinf(stream.ready):
                    stream.ready = now
        self._revived.set()

    def before_launch(self) -> LaunchEffects | None:
        """What a watched board does to a launch; raises where it cannot be launched at all."""
        self.check_usable()
        if not self.faults:
            self.watched = self.machine.bad_fork
            return None
        effects = self.faults.launch()
        if self.faults.standing(FaultKind.LOST):
            raise self.error(FaultKind.LOST)
        return effects

    def before_allocate(self) -> bool:
        """Whether a watched board refuses an allocation."""
        self.check_usable()
        return self.faults.allocate() if self.faults else False

    def check_usable(self) -> None:
        """Raise where no call on this board can succeed.

        Raises:
            BoardError: the process was forked after first use, the board is lost, or it reports
                an uncorrectable error of earlier work.
        """
        if not self.watched:
            return
        machine = self.machine
        if machine.bad_fork:
            raise machine.errors.board(BAD_FORK.format(name=machine.name.upper()))
        machine.initialized = True
        for kind in (FaultKind.LOST, FaultKind.ECC_UNCORRECTED):
            if self.faults and self.faults.standing(kind):
                raise self.error(kind)

    def error(self, kind: FaultKind) -> Exception:
        """The error that a fault shows as."""
        machine = self.machine
        return machine.errors.board(FAULT_TEXTS[kind].format(name=machine.name.upper(), board=self))

    def after_fork(self) -> None:
        """In a child process: new locks, for a thread of the parent may have held the old ones."""
        self.lock = threading.RLock()
        self.memory.after_fork()
        self.watched = True
