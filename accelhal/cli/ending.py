"""How a command ends: every error becomes one message and an exit code, never a traceback."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import click

from accelhal.cli.exit_codes import ExitCode
from accelhal.errors import AccelhalError, AccelhalWarning, UsageError, described

DEBUG_VARIABLE = "ACCELHAL_DEBUG"
"""Set to anything but nothing, it lets tracebacks of unexpected errors through."""


class Terminated(KeyboardInterrupt):
    """SIGTERM came. What guards against a plugin's SystemExit lets an interrupt through."""


class ReaderGone(Exception):
    """Who read the output has left."""


_OUTPUT_LOST = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})
"""How writing the output fails, where no file is named."""


def guarded(run: Callable[[], object]) -> int:
    """Call a command and return its exit code, with what went wrong said on standard error."""
    # Python has no stream where a descriptor was closed: what is written there is lost by intent.
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A path or variable may hold bytes that the terminal's encoding cannot show.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.simplefilter("always", AccelhalWarning)
        warnings.showwarning = _show_warning
        return _ended(run)


def _ended(run: Callable[[], object]) -> int:
    try:
        code = run()
        sys.stdout.flush()
    except click.UsageError as error:
        _say(error.show)
        return ExitCode.USAGE
    except click.ClickException as error:
        _say(error.show)
        return ExitCode.COULD_NOT_RUN
    except UsageError as error:
        return _failed(str(error), ExitCode.USAGE)
    except AccelhalError as error:
        return _failed(str(error), ExitCode.COULD_NOT_RUN)
    except (KeyboardInterrupt, click.Abort) as error:  # click makes an Abort of either interrupt
        if isinstance(error.__cause__ or error, Terminated):
            return ExitCode.TERMINATED
        return _failed("interrupted", ExitCode.INTERRUPTED)
    except (BrokenPipeError, ReaderGone):
        _drop_unwritten(sys.stdout)
        return ExitCode.BROKEN_PIPE
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        if isinstance(error, OSError) and error.errno in _OUTPUT_LOST and error.filename is None:
            _drop_unwritten(sys.stdout)
            return _failed(
                f"the output cannot be written: {error.strerror}", ExitCode.COULD_NOT_RUN
            )
        return _failed(
            f"unexpected {described(error)}\n"
            f"  next: report it with the output of `accelhal env`; {DEBUG_VARIABLE}=1 shows where",
            ExitCode.COULD_NOT_RUN,
        )
    return code if isinstance(code, int) else ExitCode.FINE


def _failed(message: str, code: ExitCode) -> ExitCode:
    _say(lambda: click.echo(f"accelhal: {message}", err=True))
    return code


def _say(show: Callable[[], object]) -> None:
    try:
        show()
    except OSError:  # nobody can be told; the exit code still says it
        _drop_unwritten(sys.stderr)


def _drop_unwritten(stream: TextIO) -> None:
    """Let what is left in the buffer go nowhere: written at exit, it would fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, AccelhalWarning):
        _say(lambda: click.echo(f"accelhal: warning: {message}", err=True))
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line)
        _say(lambda: click.echo(text, nl=False, err=True))
