"""`accelhal partitions`: slices of boards, and the vendor's commands that make and remove them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from accelhal.cli.board_choice import board_options, chosen_board
from accelhal.cli.board_view import empty_table, unfolded_width
from accelhal.cli.output import console, foreign_output, print_json
from accelhal.errors import DeviceNotFoundError
from accelhal.facts import BoardInfo, Partition, VendorCommands

if TYPE_CHECKING:
    from rich.table import Table

_UNKNOWN = "?"
_NOT_RUN = "accelhal runs none of these; read them before you do."


@click.group(invoke_without_command=True)
@board_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def partitions(
    context: click.Context, device_name: str | None, board: str | None, as_json: bool
) -> None:
    """List the slices that boards are cut into, their shares, and the variables that select them.

    Without --device or --board: those of every board. It lists and does not judge.
    """
    if context.invoked_subcommand is not None:
        return
    from accelhal.partitions import list_partitions

    chosen = None
    if device_name is not None or board is not None:
        chosen = _board(device_name, board)
    with foreign_output():
        found = list_partitions(chosen)
    if as_json:
        print_json("partitions", {"partitions": [_document(one) for one in found]})
        return
    out = console()
    if not found:
        out.print("No board is cut into slices.")
        return
    table = _table(found)
    if unfolded_width(table) <= out.width:
        out.print(table)
        return
    for one in found:
        click.echo(_paragraph(one))


@partitions.command()
@board_options
@click.option("--profile", required=True, metavar="NAME", help="The vendor's name of a profile.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def create(device_name: str | None, board: str | None, profile: str, as_json: bool) -> None:
    """Print the vendor's commands that make a slice of a board. None is run."""
    from accelhal.partitions import creation

    chosen = _board(device_name, board)
    with foreign_output():
        commands = creation(chosen, profile)
    _show(commands, as_json)


@partitions.command()
@click.option("--partition", required=True, metavar="ID", help="Its key, as the list shows it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def destroy(partition: str, as_json: bool) -> None:
    """Print the vendor's commands that take a slice away. None is run."""
    from accelhal.partitions import list_partitions, removal

    with foreign_output():
        named = [one for one in list_partitions() if one.key.value == partition]
        if len(named) != 1:
            raise DeviceNotFoundError(
                f"no slice has the key {partition!r}",
                operation="partitions destroy",
                hint="`accelhal partitions` lists them",
            )
        commands = removal(named[0])
    _show(commands, as_json)


def _board(device_name: str | None, board: str | None) -> BoardInfo:
    found = chosen_board(device_name, board)
    if found.board is None:
        raise DeviceNotFoundError(
            f"the board under {device_name} is not known: {found.reason}",
            operation="partitions",
            hint="name it by --board; `accelhal devices --json` lists UUIDs and addresses",
        )
    return found.board


def _show(commands: VendorCommands, as_json: bool) -> None:
    if as_json:
        print_json("partitions", {"commands": list(commands.lines), "notes": list(commands.notes)})
        return
    for line in commands.lines:
        click.echo(line)
    notes = (*commands.notes, _NOT_RUN) if commands.lines else commands.notes
    for note in notes:
        click.echo(f"# {note}")


def _document(one: Partition) -> dict[str, Any]:
    return {
        "key": one.key.value,
        "parent": one.parent.value,
        "backend": one.key.backend,
        "profile": one.profile,
        "total_memory": one.total_memory,
        "memory_share": one.memory_share,
        "compute_share": one.compute_share,
        "environment": dict(one.environment),
    }


def _table(found: list[Partition]) -> Table:
    table = empty_table("Slice", "Profile", "Memory", "of board", "Compute", "Board", "Selected by")
    for one in found:
        table.add_row(
            one.key.value,
            one.profile,
            _size(one.total_memory),
            _percent(one.memory_share),
            _percent(one.compute_share),
            one.parent.value,
            _selected_by(one),
        )
    return table


def _paragraph(one: Partition) -> str:
    """The same on lines of its own, unfolded: keys and variables are there to be copied."""
    memory = f"{_size(one.total_memory)} ({_percent(one.memory_share)} of the board)"
    return (
        f"{one.key.value}\n"
        f"  {one.profile}: memory {memory}, compute {_percent(one.compute_share)}\n"
        f"  board: {one.parent.value}\n"
        f"  selected by: {_selected_by(one)}"
    )


def _selected_by(one: Partition) -> str:
    return " ".join(f"{name}={value}" for name, value in one.environment.items()) or _UNKNOWN


def _size(memory: int | None) -> str:
    return _UNKNOWN if memory is None else f"{memory / 2**30:.1f} GiB"


def _percent(share: float | None) -> str:
    return _UNKNOWN if share is None else f"{100 * share:.0f} %"
