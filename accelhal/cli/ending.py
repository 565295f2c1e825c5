"""How a command ends: every error becomes one message and an exit code, never a traceback."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from typing import TextIO

import click

from accelhal.cli.exit_codes import ExitCode
from accelhal.errors import AccelhalError, AccelhalWarning, UsageError

DEBUG_VARIABLE = "ACCELHAL_DEBUG"
"""Set to anything but nothing, it lets tracebacks of unexpected errors through."""


def guarded(run: Callable[[], object]) -> int:
    """Call a command and return its exit code, with what went wrong said on standard error."""
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
        error.show()
        return ExitCode.USAGE
    except click.ClickException as error:
        error.show()
        return ExitCode.COULD_NOT_RUN
    except UsageError as error:
        return _failed(str(error), ExitCode.USAGE)
    except AccelhalError as error:
        return _failed(str(error), ExitCode.COULD_NOT_RUN)
    except (KeyboardInterrupt, click.Abort):
        return _failed("interrupted", ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # The reader is gone: what is left in the buffer must not be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.BROKEN_PIPE
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        return _failed(
            f"unexpected {type(error).__name__}: {error}\n"
            f"  next: report it with the output of `accelhal env`; {DEBUG_VARIABLE}=1 shows where",
            ExitCode.COULD_NOT_RUN,
        )
    return code if isinstance(code, int) else ExitCode.FINE


def _failed(message: str, code: ExitCode) -> ExitCode:
    click.echo(f"accelhal: {message}", err=True)
    return code


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, AccelhalWarning):
        click.echo(f"accelhal: warning: {message}", err=True)
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line)
        click.echo(text, nl=False, err=True)
