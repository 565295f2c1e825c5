"""A driver library in a process of its own: any driver call may hang, and only it is lost."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from mmap import mmap
from multiprocessing import Pipe
from operator import attrgetter
from typing import Any

from accelhal.errors import (
    AccelhalError,
    AccelhalWarning,
    BackendLoadError,
    DeviceError,
    DeviceTimeoutError,
)
from accelhal.management.driver_process import PROGRESS_BYTES, read_progress, write_progress
from accelhal.spi import Management

START_LIMIT_S = 10.0
"""How long a driver library may take to load and start; a board with persistence off takes 2-3."""

CALL_LIMIT_S = 5.0
"""How long one driver call may take."""

SILENCE_S = 60.0
"""How long a call that did not answer is not asked again."""

LOOKS = 10
"""How often the limit of a call is looked at while it lasts."""

HANGS = 3
"""After so many calls in a row without an answer, the whole library counts as hanging."""

TURN_LIMIT_S = 30.0
"""How long one thread waits while others ask."""

STOP_LIMIT_S = 1.0
"""How long a killed process may take to end."""

Call = tuple[str, tuple[Hashable, ...]]
"""A method of Management and its arguments."""

_BOOTSTRAP = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.readline());"
    "from accelhal.management.driver_process import main; main()"
)


class DriverClient:
    """The driver process of one backend, started on first use and anew after a hang or a crash.

    Args:
        backend: backend name, for messages.
        start: the backend's open_management: a function that its module has under its own name.
        call_limit_s: seconds for one call.
        start_limit_s: seconds for loading and starting the library.
    """

    def __init__(
        self,
        backend: str,
        start: Callable[[], Management],
        *,
        call_limit_s: float = CALL_LIMIT_S,
        start_limit_s: float = START_LIMIT_S,
    ) -> None:
        self._backend = backend
        self._start = start
        self._call_limit_s = call_limit_s
        self._start_limit_s = start_limit_s
        self._lock = threading.Lock()
        self._child: _Child | None = None
        self._silent: dict[Call | None, float] = {}  # None: the library as a whole
        self._hangs = 0
        self._start_hung: float | None = None
        self._owner = os.getpid()
        self._closed = False
        atexit.register(self.close)

    def open(self) -> None:
        """Start the process and the library in it.

        Raises:
            BackendLoadError: the library does not load, or does not start in time.
        """
        with self._held():
            self._ready_child()

    def ask(self, method: str, *arguments: Hashable) -> Any:
        """What the method of the backend's Management returns.

        Raises:
            DeviceTimeoutError: it does not answer within the limit, or did not a while ago.
            DeviceError: the driver process died in the call.
            AccelhalError: what the method raised.
        """
        answer = self.ask_all([(method, arguments)])[0]
        if isinstance(answer, AccelhalError):
            raise answer
        return answer

    def ask_all(self, calls: Sequence[Call]) -> list[Any]:
        """The result of each call, or the AccelhalError in its place; one that hangs costs itself.

        Several calls are one exchange, unless one of them hangs or ends the process.
        """
        answers: dict[int, Any] = {}
        with self._held():
            while len(answers) < len(calls):
                asked = []
                for place, call in enumerate(calls):
                    since = self._silence_of(call) if place not in answers else None
                    if since is not None:
                        answers[place] = self._silence(call, since)
                    elif place not in answers:
                        asked.append(place)
                try:
                    found = self._exchange([calls[place] for place in asked]) if asked else {}
                except BackendLoadError as error:
                    found = dict.fromkeys(range(len(asked)), error)
                answers.update({asked[place]: answer for place, answer in found.items()})
        return [answers[place] for place in range(len(calls))]

    def close(self) -> None:
        """End the process. A later call raises BackendLoadError."""
        atexit.unregister(self.close)
        with self._held():
            self._closed = True
            self._stop()

    @contextmanager
    def _held(self) -> Iterator[None]:
        if self._owner != os.getpid():
            # A fork: the process answers the one that started it, and who held the lock is gone.
            self._owner, self._lock, self._child = os.getpid(), threading.Lock(), None
        if not self._lock.acquire(timeout=TURN_LIMIT_S):
            raise self._error(
                DeviceTimeoutError, ("library", ()), f"is at other calls for {TURN_LIMIT_S:g} s"
            )
        try:
            yield
        finally:
            self._lock.release()

    def _exchange(self, calls: Sequence[Call]) -> dict[int, Any]:
        """Place -> answer: of all calls, or of the one that hung or ended the process."""
        child = self._ready_child()
        try:
            child.send(calls)
            found = child.receive(self._call_limit_s)
        except TimeoutError:
            place = child.progress()
            self._stop()
            self._hangs += 1
            now = time.monotonic()
            self._silent[calls[place] if self._hangs < HANGS else None] = now
            return {place: self._silence(calls[place], now)}
        except (EOFError, OSError):
            place = child.progress()
            return {place: self._error(DeviceError, calls[place], self._status())}
        self._hangs = 0
        return {place: self._named(answer, calls[place]) for place, answer in enumerate(found)}

    def _silence_of(self, call: Call) -> float | None:
        """When the call, or the whole library, last gave no answer, if that is not long ago."""
        if not self._silent:
            return None
        for key in (call, None):
            since = self._silent.get(key)
            if since is not None and time.monotonic() - since < SILENCE_S:
                return since
            self._silent.pop(key, None)
        return None

    def _ready_child(self) -> _Child:
        if self._closed:
            raise self._load_error("its management plane was closed")
        if self._child is None:
            if self._start_hung and time.monotonic() - self._start_hung < SILENCE_S:
                raise self._start_timeout()
            self._child = child = _Child(self._start)
            try:
                error = child.receive(self._start_limit_s)
            except TimeoutError:
                self._start_hung = time.monotonic()
                self._stop()
                raise self._start_timeout() from None
            except (EOFError, OSError):
                raise self._load_error(self._status()) from None
            if error is not None:
                self._stop()
                known = isinstance(error, BackendLoadError)
                raise error if known else self._load_error(error.message)
        return self._child

    def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.stop()

    def _status(self) -> str:
        """How the process ended."""
        child, self._child = self._child, None
        return f"ended its process (status {child.status() if child else None})"

    def _named(self, answer: Any, call: Call) -> Any:
        if isinstance(answer, AccelhalError):
            answer.backend = answer.backend or self._backend
            answer.operation = answer.operation or call[0]
        return answer

    def _silence(self, call: Call, since: float) -> AccelhalError:
        waited = time.monotonic() - since
        return self._error(
            DeviceTimeoutError,
            call,
            f"did not answer within {self._call_limit_s:g} s; "
            f"not asked again for {max(0.0, SILENCE_S - waited):.0f} s",
        )

    def _error(self, kind: type[DeviceError], call: Call, what: str) -> AccelhalError:
        method, arguments = call
        of = "".join(f" of {getattr(board, 'value', board)}" for board in arguments[:1])
        return kind(
            f"{self._backend}: the driver's {method}{of} {what}",
            backend=self._backend,
            operation=method,
            hint="look into the kernel log (dmesg): a driver that hangs needs a reset or a reboot",
        )

    def _start_timeout(self) -> BackendLoadError:
        return self._load_error(f"did not start within {self._start_limit_s:g} s")

    def _load_error(self, what: str) -> BackendLoadError:
        return BackendLoadError(
            f"{self._backend}: its driver library {what}",
            backend=self._backend,
            operation="open_management",
            hint="`accelhal doctor` looks into the driver",
        )


class _Child:
    """A running driver process and the pipe to it."""

    def __init__(self, start: Callable[[], Management]) -> None:
        self.connection, far = Pipe()
        memory = os.memfd_create("accelhal progress")
        os.truncate(memory, PROGRESS_BYTES)
        self._progress = mmap(memory, PROGRESS_BYTES)
        passed = [far.fileno(), memory]
        with far:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _BOOTSTRAP, *map(str, passed)],
                stdin=subprocess.PIPE,
                # Drivers print what they like.
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=passed,
            )
        os.close(memory)
        assert self._process.stdin is not None, "asked for above"
        try:
            with self._process.stdin as stdin:
                stdin.write(json.dumps(sys.path).encode() + b"\n")
            self.connection.send((start.__module__, start.__qualname__))
        except OSError:
            pass  # it died at once: `receive` says so
        self._process.stdin = None

    def send(self, calls: Sequence[Call]) -> None:
        """Ask for calls; the process may be anywhere in the last ones, or stopped."""
        write_progress(self._progress, 0)
        self.connection.send(calls)

    def receive(self, limit_s: float) -> Any:
        """The next message; TimeoutError where one call takes longer, EOFError where it is gone.

        Raises:
            TimeoutError: the process is at one call for `limit_s` seconds.
            EOFError, OSError: it has ended.
        """
        place, since = self.progress(), time.monotonic()
        while not self.connection.poll(limit_s / LOOKS):
            if self.progress() != place:
                place, since = self.progress(), time.monotonic()
            elif time.monotonic() - since >= limit_s:
                raise TimeoutError
        return self.connection.recv()

    def progress(self) -> int:
        """Place of the call under way, in the list that was sent last."""
        return read_progress(self._progress)

    def stop(self) -> int | None:
        """Kill the process; its status, None where it does not end even so."""
        self.connection.close()
        self._process.kill()
        try:
            return self._process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            warnings.warn(
                f"driver process {self._process.pid} does not end, the kernel holds it; abandoned",
                AccelhalWarning,
                stacklevel=2,
            )
            return None

    def status(self) -> int | None:
        """The status of a process that is ending by itself."""
        try:
            return self._process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            return self.stop()
        finally:
            self.connection.close()


def can_run_elsewhere(start: Callable[[], Management]) -> bool:
    """Whether another process can import this very function and there is a Python to start."""
    try:
        found = attrgetter(start.__qualname__)(import_module(start.__module__))
    except (AttributeError, ImportError, ValueError):
        return False
    return found is start and start.__module__ != "__main__" and bool(sys.executable)
