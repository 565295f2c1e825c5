"""A child process of the doctor: it may crash, hang or print what it likes; it is ended in time."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

TICK_S = 0.05
"""How long one look at the children waits for output."""

_KILL_LIMIT_S = 5.0
_OUTPUT_KEPT = 2000


class ChildProcess:
    """A module's `main()` in a fresh Python, in a session of its own so that its children end too.

    It writes what it has to say into a file of its own, a line of JSON for each step begun
    ({"step": ...}) and a last one for the outcome.

    Args:
        module: the module whose `main()` runs.
        result: the file of its lines; the first argument it gets.
        arguments: the others.
        environ: variables to set.
        waits: whether it waits to be told to go on; see `go`.
    """

    def __init__(
        self,
        module: str,
        result: Path,
        arguments: Sequence[str],
        *,
        environ: Mapping[str, str] | None = None,
        waits: bool = False,
    ) -> None:
        start = (
            "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "
            f"from {module} import main; main()"
        )
        self._result = result
        self._output = b""
        self._began = time.monotonic()
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-X", "faulthandler", "-c", start),
                json.dumps([str(entry) for entry in sys.path]),
                *(str(result), *arguments),
            ],
            stdin=subprocess.PIPE if waits else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environ or {})},
            start_new_session=True,
        )
        os.set_blocking(self.pipe.fileno(), False)
        self.printing = True

    @property
    def pipe(self) -> IO[bytes]:
        """What the child prints."""
        assert self._process.stdout is not None, "opened as a pipe"
        return self._process.stdout

    @property
    def output(self) -> str:
        """The end of what it printed so far."""
        return self._output.decode("utf-8", "replace").strip()

    @property
    def seconds(self) -> float:
        """Since its start, or since it was told to go on."""
        return time.monotonic() - self._began

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The complete lines it wrote; one that was killed may have cut the last."""
        try:
            text = self._result.read_text(encoding="utf-8")
        except OSError:
            return []
        found = []
        for line in text.splitlines():
            with suppress(ValueError):
                found.append(json.loads(line))
        return found

    @property
    def steps(self) -> list[str]:
        """The steps it began."""
        return [str(line["step"]) for line in self.lines if "step" in line]

    def go(self) -> None:
        """Tell a child that waits to go on; its time counts from now."""
        self._began = time.monotonic()
        assert self._process.stdin is not None, "opened as a pipe for a child that waits"
        with suppress(BrokenPipeError):
            self._process.stdin.close()

    def read(self) -> None:
        """Keep the end of what it printed so far."""
        with suppress(BlockingIOError):
            chunk = os.read(self.pipe.fileno(), 65536)
            self._output = (self._output + chunk)[-_OUTPUT_KEPT:]
            self.printing = bool(chunk)

    def ended(self) -> bool:
        """Whether it ended; it is not reaped yet, so its group keeps its id."""
        seen = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return seen is not None

    def stop(self) -> int | None:
        """End the child and its process group; the exit status, or None if it cannot be killed."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        try:
            return self._process.wait(_KILL_LIMIT_S)
        except subprocess.TimeoutExpired:
            return None  # stuck in a driver call: not even SIGKILL ends that
        finally:
            self.pipe.close()
            if self._process.stdin is not None:
                with suppress(BrokenPipeError):
                    self._process.stdin.close()


def read_output(children: Sequence[ChildProcess]) -> None:
    """Wait one tick for output, so that no child blocks on a full pipe."""
    with selectors.DefaultSelector() as selector:
        for child in children:
            if child.printing:
                selector.register(child.pipe, selectors.EVENT_READ, child)
        for key, _ in selector.select(TICK_S):
            key.data.read()


def signal_name(number: int) -> str:
    """The name of a signal that ended a process."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
