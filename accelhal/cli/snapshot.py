"""`accelhal snapshot`: what drivers, host and environment show, in a file for others to read."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import tempfile
from pathlib import Path

import click

from accelhal.cli.output import foreign_output
from accelhal.errors import AccelhalError, UsageError
from accelhal.evidence.snapshot import Snapshot

STANDARD_OUTPUT = "-"

_NOTES = 3
"""Of what could not be read, that are shown; the file holds all."""


@click.command()
@click.argument("file")
@click.option("--no-redact", is_flag=True, help="Keep UUIDs, serials, names and addresses.")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
def snapshot(file: str, no_redact: bool, force: bool) -> None:
    """Write what driver libraries, host and environment show to FILE; - is standard output.

    Private details are taken out, unless --no-redact keeps them; then the file is yours alone to
    read. `accelhal devices`, `topo` and others read it with --from. No board is opened; a driver
    that fails or hangs is said in the file.
    """
    from accelhal.evidence.document import redacted, write_snapshot
    from accelhal.evidence.environment import loaded_specs, public_words
    from accelhal.evidence.taking import take_snapshot
    from accelhal.redaction import private_names
    from accelhal.registry import backends

    path = None if file == STANDARD_OUTPUT else Path(file)
    if path is not None:
        _check(path, force)
    with foreign_output():
        found = take_snapshot()
        if not no_redact:
            public = public_words(loaded_specs(backends()))
            found = redacted(found, private_names(os.environ, public))
    text = write_snapshot(found)
    if path is None:
        sys.stdout.write(text)
    else:
        _write(path, text, private=no_redact, force=force)
    _say(found)


def _check(path: Path, force: bool) -> None:
    """Find out before the drivers are asked whether the file may be written."""
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.stat()
    except OSError as error:  # a name that is too long, a folder that may not be entered
        raise _lost(path, error) from error
    if path.is_dir():
        raise _refused(path, "it is a folder", "name a file")
    if not path.parent.is_dir():
        raise _refused(path, f"the folder {path.parent} does not exist", f"mkdir -p {path.parent}")
    if path.exists() and not path.is_file():
        raise _refused(path, "it is no regular file", "name another, or - for standard output")
    if path.exists() and not force:
        raise _refused(path, "it exists", "--force overwrites it")


def _write(path: Path, text: str, *, private: bool, force: bool) -> None:
    """Write the file whole or not at all."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise _lost(path, error) from error
    written = Path(name)
    try:
        with open(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            os.fchmod(descriptor, 0o600 if private else 0o666 & ~_umask())
        if not force:
            path.touch(exist_ok=False)  # another may have made it meanwhile
        written.replace(path)
    except FileExistsError as error:
        raise _refused(path, "it exists", "--force overwrites it") from error
    except OSError as error:
        raise _lost(path, error) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            written.unlink()


def _umask() -> int:
    umask = os.umask(0)  # it cannot be read without being set
    os.umask(umask)
    return umask


def _say(found: Snapshot) -> None:
    boards = [len(evidence.boards) for evidence in found.evidence]
    names = ", ".join(f"{e.backend} {n}" for e, n in zip(found.evidence, boards, strict=True))
    many = f"{sum(boards)} board{'' if sum(boards) == 1 else 's'}"
    click.echo(f"{many}{f' ({names})' if names else ''}, host and environment", err=True)
    if found.redacted:
        click.echo("private details are taken out: see --no-redact", err=True)
    else:
        click.echo("it holds UUIDs, serials and names: do not share it as it is", err=True)
    for note in found.notes[:_NOTES]:
        click.echo(f"not read: {note}", err=True)
    if len(found.notes) > _NOTES:
        click.echo(f"not read: {len(found.notes) - _NOTES} more, listed in the file", err=True)


def _refused(path: Path, reason: str, hint: str) -> UsageError:
    return UsageError(
        f"the snapshot cannot be written to {path}: {reason}", operation="snapshot", hint=hint
    )


def _lost(path: Path, error: OSError) -> AccelhalError:
    reason = error.strerror or str(error)
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return AccelhalError(
        f"the snapshot cannot be written to {path}: {reason}",
        operation="snapshot",
        hint="free space there" if full else "choose another folder, or - for standard output",
    )
