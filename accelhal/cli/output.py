"""What commands print with: one console for people, one JSON document for programs."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH = 160
"""Columns where the output is no terminal: wide enough to keep reasons and commands on a line."""

DEFAULT_WIDTH = 80
"""Columns of a terminal that does not say how many it has."""

HEIGHT = 24
"""Lines of a terminal; nothing that is printed depends on it."""

MINIMUM_WIDTH = 60
"""Columns below which tables can no longer be read: a narrower terminal breaks the lines."""


def console(*, stderr: bool = False) -> Console:
    """The console of standard output or standard error.

    Colour only on a terminal, and never where NO_COLOR is set and not empty
    (https://no-color.org). COLUMNS sets the width. Square brackets are printed as they
    stand (hints hold "accelhal[torch]"): style with rich.text.Text, not with markup.
    """
    from accelhal.cli.rich_console import CommandConsole

    width = _width(sys.stderr if stderr else sys.stdout)
    # A height too, or rich measures the terminal by itself.
    return CommandConsole(stderr=stderr, width=width, height=HEIGHT, highlight=False, markup=False)


def _width(stream: TextIO) -> int:
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if re.fullmatch("[0-9]{1,4}", columns) else 0
    if not width and stream.isatty():
        width = os.get_terminal_size(stream.fileno()).columns or DEFAULT_WIDTH
    return max(width or PIPED_WIDTH, MINIMUM_WIDTH)


@contextmanager
def foreign_output() -> Iterator[None]:
    """Send what plugins and models print to standard error: standard output is the command's."""
    with redirect_stdout(sys.stderr):
        yield


def print_json(command: str, document: dict[str, Any]) -> None:
    """Write one JSON document to standard output, its schema named first.

    Args:
        command: the command's name; the schema is "accelhal.<command>/1".
        document: what the command found, as plain JSON values.
    """
    text = json.dumps({"schema": f"accelhal.{command}/1", **document}, indent=2)
    sys.stdout.write(text + "\n")
