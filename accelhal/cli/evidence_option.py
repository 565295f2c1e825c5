"""The option --from: boards as files show them, in the place of this host's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from accelhal.cli.output import foreign_output

if TYPE_CHECKING:
    from accelhal.evidence.files import Collected

OPTION = "--from"

_LINES = 5
"""Of what was not read, that are shown; the last says how many there are more."""

Command = TypeVar("Command", bound=Callable[..., Any])


class EvidenceCommand(click.Command):
    """A command whose --from takes all that follows it up to the next option, as globs give it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Let each file have an option of its own, as click wants it."""
        _need_files(args, ctx)
        return super().parse_args(ctx, list(_one_by_one(args)))


def _need_files(args: Sequence[str], ctx: click.Context) -> None:
    """Refuse an option that names no file: click would take the option after it for one."""
    for arg, following in zip(args, [*args[1:], "--"], strict=False):
        if arg == "--":
            return
        if arg == OPTION and following.startswith("-") and following != "-":
            raise click.BadOptionUsage(
                OPTION, f"{OPTION} needs a file: {ctx.command_path} {OPTION} FILE...", ctx
            )


def _one_by_one(args: Sequence[str]) -> Iterable[str]:
    within = False
    for place, arg in enumerate(args):
        if arg == "--":
            yield from args[place:]
            return
        is_option = arg.startswith("-") and arg != "-"
        if within and not is_option and args[place - 1] != OPTION:
            yield OPTION
        if is_option:
            within = arg.partition("=")[0] == OPTION
        yield arg


def from_option(command: Command) -> Command:
    """Add --from FILE… to a command made with EvidenceCommand."""
    text = "Show what snapshots and captured output of vendors' tools show; - is standard input."
    return click.option(OPTION, "files", multiple=True, metavar="FILE...", help=text)(command)


def collect(files: Sequence[str]) -> Collected:
    """What the files show; what of them was not read is said on standard error.

    Raises:
        UsageError: a file cannot be read, or nothing in them is known.
    """
    from accelhal.evidence.files import evidence_readers, read_files, vendor_hosts
    from accelhal.evidence.kernel_lines import log_needles
    from accelhal.registry import backends

    with foreign_output():
        known = backends()
        readers, needles = evidence_readers(known), log_needles(known)
        found = read_files(files, readers, vendor_hosts(known), needles)
    notes = [str(unread) for unread in found.unread]
    notes += [note for evidence in found.snapshot.evidence for note in evidence.notes]
    notes += found.snapshot.notes
    for note in notes[:_LINES]:
        click.echo(f"accelhal: not read: {note}", err=True)
    if len(notes) > _LINES:
        click.echo(f"accelhal: not read: {len(notes) - _LINES} more", err=True)
    return found


def title(found: Collected) -> str:
    """Says that what follows is evidence, and of whom."""
    names = ", ".join(found.files[:3]) + (", ..." if len(found.files) > 3 else "")
    taken = f", taken {found.snapshot.taken}" if found.snapshot.taken else ""
    private = ", private details taken out" if found.snapshot.redacted else ""
    return f"Evidence, not this host: {names}{taken}{private}"


def evidence_document(found: Collected) -> dict[str, Any]:
    """The same for programs: where what follows is from."""
    return {
        "files": list(found.files),
        "taken": found.snapshot.taken,
        "redacted": found.snapshot.redacted,
        "sources": {one.backend: one.source for one in found.snapshot.evidence},
        "versions": {one.backend: dict(one.versions) for one in found.snapshot.evidence},
        "unread": [
            {"file": u.file, "line": u.line, "count": u.count, "reason": u.reason}
            for u in found.unread
        ],
        "notes": [
            *(note for one in found.snapshot.evidence for note in one.notes),
            *found.snapshot.notes,
        ],
    }
