"""Running one task in a fresh Python: a process of its own, with a limit and a result."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

RESULT_MARK = "accelhal-child-result:"
"""Begins the line of standard output that carries the result; vendors print around it."""

_TASKS = "accelhal.testing.child_tasks"
_SHOWN_LINES = 12


def python_command(module: str) -> list[str]:
    """The command that calls a module's main() with the current folder off the module search path.

    What is installed is what is tested, not what lies in the folder. `-P` would do, from Python
    3.11 on. PYTHONPATH counts.
    """
    start = "import sys; sys.path[:1] = filter(None, sys.path[:1])"
    return [sys.executable, "-c", f"{start}; from {module} import main; sys.exit(main())"]


class ChildError(AssertionError):
    """A task that raised, crashed or did not end in time."""


class ChildProcess:
    """A task of `child_tasks` in a fresh Python.

    Args:
        task: a function there.
        arguments: its arguments, as plain JSON values.
        setup: source to run before it.
        environ: variables to set.
        path: folders to search for modules before all others.
    """

    def __init__(
        self,
        task: str,
        arguments: Mapping[str, Any],
        *,
        setup: str = "",
        environ: Mapping[str, str] | None = None,
        path: Sequence[str] = (),
    ) -> None:
        self._task = task
        search = [*path, *(entry for entry in sys.path if entry), os.getcwd()]
        self._process = subprocess.Popen(
            python_command(_TASKS),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="backslashreplace",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(search), **(environ or {})},
        )
        stdin = self._process.stdin
        assert stdin is not None, "asked for above"
        stdin.write(json.dumps({"task": task, "arguments": arguments, "setup": setup}))
        stdin.close()
        self._process.stdin = None  # communicate() would flush it again

    def result(self, limit_s: float) -> Any:
        """What the task returned.

        Args:
            limit_s: seconds to wait; the process is ended after them.

        Raises:
            ChildError: it raised, crashed or did not end in time.
        """
        try:
            output, _ = self._process.communicate(timeout=limit_s)
        except BaseException as error:
            self._process.kill()
            output, _ = self._process.communicate()
            if isinstance(error, subprocess.TimeoutExpired):
                raise ChildError(
                    f"child process {self._task!r} did not end within {limit_s:g} s\n"
                    + _tail(output)
                ) from None
            raise
        status = self._process.returncode
        for line in reversed(output.splitlines()):
            if line.startswith(RESULT_MARK) and status == 0:
                return json.loads(line.removeprefix(RESULT_MARK))
        raise ChildError(
            f"child process {self._task!r} ended with status {status}\n{_tail(output)}"
        )


def _tail(output: str) -> str:
    return "\n".join(output.splitlines()[-_SHOWN_LINES:])
