"""`accelhal mock`: the subcommands of simulated boards."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from accelhal.errors import UsageError
from accelhal.facts import BoardInfo, BoardReading, Evidence
from accelhal.spi import CommandContext
from accelhal_mock.environment import BOARDS_VARIABLE
from accelhal_mock.profiles.from_evidence import EvidenceProfile, profile_of


@click.group()
def mock() -> None:
    """Simulated boards: profiles of real ones."""


@mock.command()
@click.argument("files", nargs=-1, required=True, metavar="FROM...")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A .json file to write.")
@click.option("--board", metavar="ID", help="Number, PCI address or UUID of one of the boards.")
@click.option("--force", is_flag=True, help="Overwrite the file.")
@click.pass_obj
def profile(
    context: CommandContext,
    files: tuple[str, ...],
    output: Path | None,
    board: str | None,
    force: bool,
) -> None:
    """Make a mock profile of boards that snapshots or captured output show.

    What the evidence does not show is taken from the published figures of the boards' model, or is
    a neutral value; each is said. Boards of several models make a profile each. Without -o the
    profile goes to standard output.
    """
    if output is not None and output.suffix != ".json":
        raise UsageError(
            f"a profile cannot be written to {output}: profiles are .json files",
            operation="mock profile",
            hint=f"-o {output.with_suffix('.json')}",
        )
    evidence = context.read_evidence(files)
    readings = [r for one in evidence for r in one.boards if r.board.parent is None]
    chosen = readings if board is None else [_called(board, readings)]
    models = _by_model(chosen)
    if not models:
        raise UsageError(
            f"no board is shown by {', '.join(files)}",
            operation="mock profile",
            hint="`accelhal devices --from` shows what is in them",
        )
    if output is None and len(models) > 1:
        raise UsageError(
            f"there are boards of {len(models)} models: "
            f"{', '.join(boards[0].board.name for boards in models)}",
            operation="mock profile",
            hint="choose one with --board, or write a file for each with -o FILE.json",
        )
    nodes = {r.board.numa_node for r in readings} - {None}
    for boards in models:
        found = profile_of(boards, len(nodes) or None, _source(evidence, boards[0].board))
        text = json.dumps(found.content, indent=1) + "\n"
        if output is None:
            click.echo(text, nl=False)
        else:
            _write(_file(output, found, len(models)), text, force)
        _say(found, len(boards))


def _called(name: str, readings: Sequence[BoardReading]) -> BoardReading:
    if name.isdecimal() and int(name) < len(readings):
        return readings[int(name)]
    for reading in readings:
        if name in (reading.board.pci, reading.board.uuid):
            return reading
    known = ", ".join(f"{i} ({r.board.pci or r.board.name})" for i, r in enumerate(readings))
    raise UsageError(
        f"no board is called {name!r}", operation="mock profile", hint=f"boards: {known or 'none'}"
    )


def _by_model(readings: Sequence[BoardReading]) -> list[list[BoardReading]]:
    """Boards with one name and one memory each."""
    models: dict[tuple[str, int | None], list[BoardReading]] = {}
    for reading in readings:
        models.setdefault((reading.board.name, reading.board.total_memory), []).append(reading)
    return list(models.values())


def _source(evidence: Sequence[Evidence], board: BoardInfo) -> str:
    return next(
        (f"seen by {e.source}" for e in evidence if any(r.board is board for r in e.boards)), "seen"
    )


def _file(output: Path, found: EvidenceProfile, models: int) -> Path:
    """The file as named; with the profile's name in it where there are several."""
    if models == 1:
        return output
    return output.with_name(f"{output.stem}-{found.content['name']}{output.suffix}")


def _write(path: Path, text: str, force: bool) -> None:
    try:
        with path.open("w" if force else "x", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise UsageError(
            f"the profile cannot be written to {path}: {error.strerror}",
            operation="mock profile",
            hint="--force overwrites it"
            if isinstance(error, FileExistsError)
            else "check the path",
        ) from error
    click.echo(f"{path}: simulate it with {BOARDS_VARIABLE}=profile={path}", err=True)


def _say(found: EvidenceProfile, boards: int) -> None:
    of = "no model of that name is published" if found.model is None else f"model {found.model}"
    many = "1 board" if boards == 1 else f"{boards} boards"
    click.echo(f"{found.content['product']}: {many}, {of}", err=True)
    for word, names in (
        ("seen", found.seen),
        ("published", found.nominal),
        ("assumed", found.assumed),
    ):
        click.echo(f"  {word}: {', '.join(names) or 'nothing'}", err=True)
