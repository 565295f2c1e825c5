"""The options --device and --board, and the board that they mean, told without torch here."""

from __future__ import annotations

import pickle
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from accelhal.cli.output import foreign_output
from accelhal.device_name import parse_device_name
from accelhal.errors import (
    AccelhalError,
    BackendNotFoundError,
    DeviceNotFoundError,
    UsageError,
    message_of,
)
from accelhal.host import Host
from accelhal.management.boards import list_boards
from accelhal.management.finding import FoundBoard, board_called, board_under
from accelhal.registry import backends, find_spec
from accelhal.testing.child_process import python_command

CHILD_LIMIT_S = 120
"""For importing torch and opening a backend in a process of their own."""

Command = TypeVar("Command", bound=Callable[..., Any])


def board_options(command: Command) -> Command:
    """Add --device and --board to a command."""
    device = click.option("--device", "device_name", metavar="BACKEND:INDEX", help="A device.")
    board = click.option("--board", metavar="ID", help="UUID or PCI address, in its place.")
    return device(board(command))


def chosen_board(device_name: str | None, board: str | None) -> FoundBoard:
    """The board that one of the two options means, or None and why it cannot be told.

    A device is traced by the driver's list and the variables that hide devices. Where that does not
    tell, torch does, in a process of its own.

    Raises:
        click.UsageError: neither option is given, or both are.
        UsageError: not a device name, or of no backend that is installed.
        BackendError: the backend's plugin is broken.
        DeviceNotFoundError: there is no such board or device.
    """
    if (device_name is None) == (board is None):
        raise click.UsageError("give --device or --board, one of the two")
    if board is not None:
        with foreign_output():
            return FoundBoard(board_called(board, list_boards(backends(), Host())))
    name = parse_device_name(str(device_name))
    with foreign_output():
        try:
            spec = find_spec(name)
        except BackendNotFoundError as error:
            raise UsageError(error.message, device=str(device_name), hint=error.hint) from error
        found = board_under(spec, name.index or 0)
    if found.board is not None:
        return found
    told = _ask_torch(str(device_name))
    return told if told.board is not None else FoundBoard(None, f"{found.reason}; {told.reason}")


def _ask_torch(device_name: str) -> FoundBoard:
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer"
        try:
            subprocess.run(
                [*python_command("accelhal.cli.board_child"), device_name, str(answer)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=CHILD_LIMIT_S,
            )
            told = pickle.loads(answer.read_bytes())
        except subprocess.TimeoutExpired:
            return FoundBoard(None, f"opening {device_name} took over {CHILD_LIMIT_S} s")
        except (OSError, EOFError, pickle.UnpicklingError):
            return FoundBoard(None, f"the process that opened {device_name} did not answer")
    if isinstance(told, DeviceNotFoundError):
        raise told
    if isinstance(told, AccelhalError):
        return FoundBoard(None, message_of(told))
    assert isinstance(told, FoundBoard), "board_child writes nothing else"
    return told
