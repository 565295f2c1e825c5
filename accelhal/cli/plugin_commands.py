"""Subcommands that plugins bring: listed from their metadata, imported when they are called."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from operator import attrgetter

import click

from accelhal.errors import BackendConflictError, BackendLoadError, described
from accelhal.facts import Evidence
from accelhal.host.entry_points import InstalledEntryPoint, read_entry_points
from accelhal.spi import COMMAND_GROUP, CommandContext


def plugin_commands() -> dict[str, str]:
    """Name of each plugin's command -> the distribution that brings it."""
    return {entry.name: _source(entry) for entry in read_entry_points(COMMAND_GROUP).found}


def load_command(name: str) -> click.Command | None:
    """The plugins' command of that name, or None.

    Raises:
        BackendConflictError: two distributions bring it.
        BackendLoadError: it cannot be imported, or is no click command.
    """
    found = [entry for entry in read_entry_points(COMMAND_GROUP).found if entry.name == name]
    if not found:
        return None
    if len(found) > 1:
        raise BackendConflictError(
            f"`accelhal {name}` is brought by {' and '.join(map(_source, found))}",
            operation="load plugin",
            hint="uninstall one of them",
        )
    entry = found[0]
    module, _, attribute = entry.value.partition(":")
    try:
        command = attrgetter(attribute.strip())(import_module(module.strip()))
        if not isinstance(command, click.Command):
            raise TypeError(f"{entry.value} is a {type(command).__name__}, no click command")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin raises what it likes, SystemExit too
        raise BackendLoadError(
            f"`accelhal {name}` of {_source(entry)} raised {described(error)}",
            operation="load plugin",
            hint=f"mend it, or remove it: pip uninstall {entry.distribution}",
        ) from error
    return command


def command_context() -> CommandContext:
    """What plugins' commands are given."""
    return CommandContext(read_evidence=_read_evidence)


def _read_evidence(files: Sequence[str]) -> tuple[Evidence, ...]:
    from accelhal.cli.evidence_option import collect

    return collect(files).snapshot.evidence


def _source(entry: InstalledEntryPoint) -> str:
    return f"{entry.distribution} {entry.version}".strip()
