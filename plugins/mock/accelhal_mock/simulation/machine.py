"""The simulated host's boards, its clock, and what each thread has made current."""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from accelhal.errors import UsageError
from accelhal_mock.profiles.profile import BoardProfile
from accelhal_mock.simulation.allocation import Allocation
from accelhal_mock.simulation.board import Board
from accelhal_mock.simulation.clock import Clock, RealClock, VirtualClock
from accelhal_mock.simulation.error_texts import INVALID_ORDINAL
from accelhal_mock.simulation.errors import ErrorTypes
from accelhal_mock.simulation.faults import BitFlip, Fault, FaultKind
from accelhal_mock.simulation.hazards import HazardDetector, HazardMode
from accelhal_mock.simulation.host import HostKnowledge
from accelhal_mock.simulation.stream import Stream

MOST_BOARDS = 16
"""Boards that a machine can have: so many are registered with torch, once for the process."""

DEFAULT_WATCHDOG = 30.0
"""Seconds after which a wait for work that hangs is given up."""


@dataclass(frozen=True, kw_only=True)
class MachineConfig:
    """What a machine is made of.

    Attributes:
        profiles: one for each board.
        memory: bytes of each board, in place of its profile's; None for the profile's.
        clock: "virtual" (waiting advances it) or "real" (waiting sleeps).
        hazards: "raise", "warn" or "off".
        faults: armed from the start.
        watchdog: seconds after which a wait for work that hangs is given up.
    """

    profiles: tuple[BoardProfile, ...]
    memory: int | None = None
    clock: Literal["virtual", "real"] = "virtual"
    hazards: HazardMode = "warn"
    faults: tuple[Fault, ...] = ()
    watchdog: float = DEFAULT_WATCHDOG

    def __post_init__(self) -> None:
        _check(
            1 <= len(self.profiles) <= MOST_BOARDS,
            "count",
            f"1 to {MOST_BOARDS} boards",
            len(self.profiles),
        )
        _check(self.memory is None or self.memory > 0, "memory", "more than 0 bytes", self.memory)
        _check(self.clock in ("virtual", "real"), "clock", '"virtual" or "real"', self.clock)
        _check(
            self.hazards in ("raise", "warn", "off"),
            "hazards",
            '"raise", "warn" or "off"',
            self.hazards,
        )
        _check(self.watchdog > 0, "watchdog", "more than 0 seconds", self.watchdog)
        for fault in self.faults:
            check_boards(fault, len(self.profiles))


class _ThreadState(threading.local):
    """What a thread has made current, for one generation of boards."""

    def __init__(self) -> None:
        self.generation = -1
        self.device = 0
        self.streams: dict[int, Stream] = {}


class Machine:
    """Simulated boards. It stays the same object when it is configured anew for another test.

    Attributes:
        name: the device type that the boards appear as ("mock").
        config: what it was last configured with.
        errors: makers of the errors it raises.
        clock: its time.
        host: what the host knows to be done.
        hazards: the hazard detector.
        watchdog: seconds after which a wait for work that hangs is given up.
        initialized: whether a board was used.
        bad_fork: whether this process was forked after that.
        generation: changes with each `configure`.
    """

    def __init__(self, name: str, config: MachineConfig) -> None:
        self.name = name
        self.errors = ErrorTypes()
        self.initialized = False
        self.bad_fork = False
        self.generation = 0
        self._stream_ids = itertools.count(1)
        self._thread = _ThreadState()
        self._listeners: list[Callable[[], None]] = []
        self.configure(config)
        os.register_at_fork(after_in_child=_forked(weakref.ref(self)))

    def configure(self, config: MachineConfig) -> None:
        """Put new boards in place of the present ones, and start the clock at 0.

        Allocations and streams of former boards stay valid, and count nowhere any more.
        """
        self.config = config
        self.clock: Clock = RealClock() if config.clock == "real" else VirtualClock()
        self.host = HostKnowledge()
        self.hazards = HazardDetector(config.hazards, self.host)
        self.watchdog = config.watchdog
        self.generation += 1
        self.boards = tuple(
            Board(self, index, profile, config.memory or profile.memory)
            for index, profile in enumerate(config.profiles)
        )
        for fault in config.faults:
            self.inject(fault)
        for listener in self._listeners:
            listener()

    def on_configure(self, listener: Callable[[], None]) -> None:
        """Call `listener` after each later `configure`."""
        self._listeners.append(listener)

    def next_stream_id(self) -> int:
        """A number for a new stream, unique in the process."""
        return next(self._stream_ids)

    # ---- what is current in the calling thread

    def board(self, index: int | None = None) -> Board:
        """A board; the current one when None.

        Raises:
            BoardError: there is no such board.
        """
        if index is None:
            index = self.current_device()
        if 0 <= index < len(self.boards):
            return self.boards[index]
        raise self.errors.board(INVALID_ORDINAL.format(name=self.name.upper()))

    def current_device(self) -> int:
        """Index of the calling thread's current board."""
        return self._state().device

    def set_device(self, index: int) -> None:
        """Make a board current for the calling thread."""
        self._state().device = self.board(index).index

    def current_stream(self, index: int | None = None) -> Stream:
        """The calling thread's current stream on a board."""
        state = self._state()
        if index is None:
            index = state.device
        return state.streams.get(index) or self.board(index).default_stream

    def set_stream(self, stream: Stream) -> None:
        """Make a stream current on its board, for the calling thread."""
        self._state().streams[stream.board.index] = stream

    def _state(self) -> _ThreadState:
        state = self._thread
        if state.generation != self.generation:
            state.generation = self.generation
            state.device = 0
            state.streams = {}
        return state

    # ---- between boards

    def can_access_peer(self, index: int, peer: int) -> bool:
        """Whether two boards reach one another over a link of the same kind that is up."""
        mine, theirs = self.board(index), self.board(peer)
        if mine is theirs or mine.profile.link is None or theirs.profile.link is None:
            return False
        return mine.profile.link.kind == theirs.profile.link.kind and self.link_up(index, peer)

    def link_up(self, index: int, peer: int) -> bool:
        """Whether no link_down fault stands between two boards."""
        for one, other in ((index, peer), (peer, index)):
            fault = self.board(one).faults.standing(FaultKind.LINK_DOWN)
            if fault is not None and fault.peer in (None, other):
                return False
        return True

    def peer_copy(
        self,
        source: Stream,
        target: Stream,
        nbytes: int,
        reads: Sequence[Allocation] = (),
        writes: Sequence[Allocation] = (),
        replay: Callable[[], None] | None = None,
    ) -> BitFlip | None:
        """Copy between boards, ordered as torch orders it: after and before both streams.

        Raises:
            BoardError: the boards have a link, and it is down.
        """
        one, other = source.board, target.board
        linked = one.profile.link is not None and other.profile.link is not None
        if linked and not self.link_up(one.index, other.index):
            raise one.error(FaultKind.LINK_DOWN)
        source.wait_stream(target)
        cost = one.cost.peer_copy(nbytes, other.profile)
        flip = source.launch(f"copy from {one} to {other}", cost, reads, writes, replay=replay)
        target.wait_stream(source)
        return flip

    # ---- faults

    def inject(self, fault: Fault) -> None:
        """Arm a fault on its board.

        Raises:
            UsageError: a board it names is not there.
        """
        check_boards(fault, len(self.boards))
        self.boards[fault.device].inject(fault)

    def clear_faults(self, device: int | None = None) -> None:
        """Take back the faults of one board; of all when None."""
        for board in self.boards if device is None else (self.board(device),):
            board.clear_faults()


def check_boards(fault: Fault, count: int) -> None:
    """Raise UsageError where a fault names a board that is not there, or links one to itself."""
    _check(fault.device < count, "device", f"below {count}, the number of boards", fault.device)
    if fault.peer is not None:
        wanted = f"another board, below {count}"
        _check(0 <= fault.peer < count and fault.peer != fault.device, "peer", wanted, fault.peer)


def _check(good: bool, name: str, wanted: str, value: object) -> None:
    if not good:
        raise UsageError(
            f"{name} must be {wanted}, not {value!r}",
            operation="install",
            hint=f"give {name!r} such a value",
        )


def _forked(machine: weakref.ref[Machine]) -> Callable[[], None]:
    def after_in_child() -> None:
        found = machine()
        if found is not None:
            if found.initialized:
                found.bad_fork = True
            found.host.after_fork()
            for board in found.boards:
                board.after_fork()

    return after_in_child
