"""The `accelhal` command: a group that loads a command only when it is called."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn

import click

from accelhal import __version__
from accelhal.cli.ending import ReaderGone, Terminated, guarded


@dataclass(frozen=True)
class LazyCommand:
    """Where a command lies, and its line in `accelhal --help`."""

    location: str
    help: str


COMMANDS: Mapping[str, LazyCommand] = {
    "devices": LazyCommand(
        "accelhal.cli.devices:devices", "List backends, devices and accelerator boards."
    ),
    "topo": LazyCommand("accelhal.cli.topo:topo", "Show how near the boards are to one another."),
    "select": LazyCommand(
        "accelhal.cli.select:select", "Rank the boards for what a job needs, with reasons."
    ),
    "bind": LazyCommand(
        "accelhal.cli.bind:bind", "Run a command on the CPUs and memory near a device."
    ),
    "partitions": LazyCommand(
        "accelhal.cli.partitions:partitions", "List slices of boards; print how to make them."
    ),
    "snapshot": LazyCommand(
        "accelhal.cli.snapshot:snapshot", "Write what is seen of boards and host to a file."
    ),
    "doctor": LazyCommand(
        "accelhal.cli.doctor:doctor", "Say why a board is missing or sick, and what to type next."
    ),
    "bench": LazyCommand(
        "accelhal.cli.bench:bench", "Measure throughput, latency and memory of a model."
    ),
    "check-model": LazyCommand(
        "accelhal.cli.check_model:check_model",
        "Show which operators of a model a backend runs itself.",
    ),
    "launch": LazyCommand(
        "accelhal.cli.launch:launch", "Start a program in several processes, a device each."
    ),
    "conformance": LazyCommand(
        "accelhal.cli.conformance:conformance", "Try every rule of the interface on a backend."
    ),
    "env": LazyCommand("accelhal.cli.env:env", "Print a report to paste into an issue."),
}

_EPILOG = """\b
Exit codes: 0 fine, 1 warnings (under --strict), 2 a failure was found, 3 could not run, 4 usage.
"""


class LazyGroup(click.Group):
    """A click group over COMMANDS and the plugins' commands; endings follow ExitCode."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of COMMANDS; then those of plugins."""
        return [*COMMANDS, *_brought()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module; one that a plugin brings is given a CommandContext."""
        known = COMMANDS.get(cmd_name)
        if known is None:
            from accelhal.cli.plugin_commands import command_context, load_command

            ctx.obj = command_context()
            return load_command(cmd_name)
        module, _, attribute = known.location.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.help) for name, command in COMMANDS.items()])
        brought = [(name, f"Brought by {by}.") for name, by in _brought().items()]
        if brought:
            with formatter.section("Commands of plugins"):
                formatter.write_dl(brought)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; click would end the process with 1 where the reader is gone."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ReaderGone from error

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run; in click's standalone mode, end the process with the exit code that fits."""
        run: Callable[..., Any] = super().main
        if not extra.pop("standalone_mode", True):
            return run(*args, standalone_mode=False, **extra)
        raise SystemExit(guarded(lambda: run(*args, standalone_mode=False, **extra)))


def _brought() -> dict[str, str]:
    """Name of each command that is not ours -> the distribution that brings it."""
    # Here, because only help needs to look through what is installed.
    from accelhal.cli.plugin_commands import plugin_commands

    return {name: by for name, by in plugin_commands().items() if name not in COMMANDS}


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EPILOG,
)
@click.version_option(__version__, prog_name="accelhal", message="%(prog)s %(version)s")
def cli() -> None:
    """One interface for every AI board, over PyTorch."""


def main() -> None:
    """Entry point of the `accelhal` script; ends the process."""
    signal.signal(signal.SIGTERM, _terminated)
    cli.main(prog_name="accelhal")


def _terminated(number: int, frame: object) -> NoReturn:
    # An exception, so that child processes are ended and files closed on the way out.
    raise Terminated
