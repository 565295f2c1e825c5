"""`accelhal bind`: run a command on the CPUs and memory near a device, whoever made the board."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
from dataclasses import asdict
from typing import Any, Literal, NoReturn

import click

from accelhal.cli.board_choice import board_options, chosen_board
from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.output import print_json
from accelhal.errors import DeviceError
from accelhal.facts import BoardInfo
from accelhal.host.cpu_list import format_cpu_list
from accelhal.management.finding import FoundBoard
from accelhal.management.planes import end_driver_processes

_IGNORED_BY_PYTHON = ("SIGPIPE", "SIGXFSZ")
"""Signals that Python ignores from its start: what it executes would go on ignoring them."""


# Options after COMMAND are the command's, with or without "--".
@click.command(context_settings={"allow_interspersed_args": False})
@board_options
@click.option(
    "--cpus",
    type=click.Choice(["node", "none"]),
    default="node",
    show_default=True,
    help="Run on the CPUs of the board's NUMA node, or leave the CPUs alone.",
)
@click.option(
    "--memory",
    type=click.Choice(["preferred", "bind", "none"]),
    default="preferred",
    show_default=True,
    help="Take memory of that node first, take no other, or leave memory alone.",
)
@click.option("--strict", is_flag=True, help="Run nothing unless all of it can be done.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; COMMAND may be left out.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document; with --dry-run.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def bind(
    device_name: str | None,
    board: str | None,
    cpus: str,
    memory: Literal["preferred", "bind", "none"],
    strict: bool,
    dry_run: bool,
    as_json: bool,
    command: tuple[str, ...],
) -> ExitCode:
    """Run COMMAND near a device: on the CPUs and with the memory of its board's NUMA node.

    One line on standard error says what was bound and what was not, and why. Then COMMAND takes
    this process's place: its exit code and its signals are its own. What is not known, such as a
    board's NUMA node in most virtual machines, is left alone, and COMMAND runs all the same unless
    --strict is given.
    """
    if as_json and not dry_run:
        raise click.UsageError("--json goes with --dry-run: else the output is COMMAND's own")
    if not command and not dry_run:
        raise click.UsageError("which COMMAND to run is missing")
    if command and (unusable := _unusable(command[0])) is not None:
        return unusable
    found = chosen_board(device_name, board)
    named = device_name or str(board)
    document = _bound(found, cpus, memory, strict, dry_run)
    if as_json:
        print_json("bind", {"named": named, **document})
    else:
        click.echo(f"accelhal: bind: {_line(named, found.board, document)}", err=True)
    if dry_run:
        return ExitCode.FINE
    end_driver_processes()
    return _execute(command)


def _bound(
    found: FoundBoard,
    cpus: str,
    memory: Literal["preferred", "bind", "none"],
    strict: bool,
    dry_run: bool,
) -> dict[str, Any]:
    """What was bound, as plain JSON values."""
    from accelhal.topology import bind as bind_here

    if found.board is None:
        note = f"the board is not known, so nothing is bound: {found.reason}"
        if strict:
            raise DeviceError(note, operation="bind", hint="without --strict COMMAND runs unbound")
        return {"board": None, "node": None, "cpus": [], "memory": None, "notes": [note]}
    binding = bind_here(
        found.board,
        cpus="node" if cpus == "node" else None,
        memory=None if memory == "none" else memory,
        strict=strict,
        dry_run=dry_run,
    )
    board = {"name": found.board.name, "uuid": found.board.uuid, "address": found.board.pci}
    told = asdict(binding)
    del told["threads"]  # only this one executes the command
    return {"board": board, **told, "cpus": list(binding.cpus), "notes": list(binding.notes)}


def _line(named: str, board: BoardInfo | None, document: dict[str, Any]) -> str:
    parts = []
    if document["node"] is not None:
        cpus = format_cpu_list(document["cpus"])
        parts.append(f"NUMA node {document['node']}")
        parts.append(f"CPUs {cpus}" if cpus else "CPUs left alone")
        memory = document["memory"]
        parts.append(f"memory {memory}" if memory else "memory left alone")
    parts += document["notes"]
    on = "" if board is None else f" ({board.name}{f', {board.pci}' if board.pci else ''})"
    return f"{named}{on}: {', '.join(parts)}"


def _unusable(program: str) -> ExitCode | None:
    """Why a program cannot be executed, said and as a shell's exit code; None where it can."""
    if shutil.which(program) is not None:
        return None
    if os.path.isfile(program) and os.sep in program:
        return _not_executed(program, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
    return _not_executed(program, FileNotFoundError(errno.ENOENT, "command not found"))


def _execute(command: tuple[str, ...]) -> ExitCode:
    for name in _IGNORED_BY_PYTHON:
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        _replace_process(command)
    except OSError as error:
        return _not_executed(command[0], error)


def _replace_process(command: tuple[str, ...]) -> NoReturn:
    os.execvp(command[0], command)


def _not_executed(program: str, error: OSError) -> ExitCode:
    click.echo(f"accelhal: bind: {program}: {error.strerror}", err=True)
    missing = isinstance(error, FileNotFoundError)
    return ExitCode.COMMAND_NOT_FOUND if missing else ExitCode.COMMAND_NOT_EXECUTABLE
