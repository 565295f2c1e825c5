"""What commands print with: one console for people, one JSON document for programs."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH = 160
"""Columns where the output is no terminal: wide enough to keep reasons and commands on a line."""


def console(*, stderr: bool = False) -> Console:
    """The console of standard output or standard error.

    Colour only on a terminal, and never where NO_COLOR is set and not empty
    (https://no-color.org). COLUMNS sets the width. Square brackets are printed as they
    stand (hints hold "accelhal[torch]"): style with rich.text.Text, not with markup.
    """
    from accelhal.cli.rich_console import CommandConsole

    stream = sys.stderr if stderr else sys.stdout
    measured = stream.isatty() or "COLUMNS" in os.environ
    return CommandConsole(
        stderr=stderr, width=None if measured else PIPED_WIDTH, highlight=False, markup=False
    )


def print_json(command: str, document: dict[str, Any]) -> None:
    """Write one JSON document to standard output, its schema named first.

    Args:
        command: the command's name; the schema is "accelhal.<command>/1".
        document: what the command found, as plain JSON values.
    """
    text = json.dumps({"schema": f"accelhal.{command}/1", **document}, indent=2)
    sys.stdout.write(text + "\n")
