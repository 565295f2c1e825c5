"""`accelhal select`: the boards that fit a job best, each choice with its reasons. Torch-free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from accelhal.cli.evidence_option import (
    EvidenceCommand,
    collect,
    evidence_document,
    from_option,
    title,
)
from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.number_range import NumberRange
from accelhal.cli.output import console, foreign_output, print_json
from accelhal.facts import Relation

if TYPE_CHECKING:
    from rich.table import Table

    from accelhal.evidence.snapshot import Snapshot
    from accelhal.selection import Choice, Needs

_SHOWN = 8
"""Choices in the table; --json has all."""

_MARKS = {True: ("✓", "green"), False: ("✗", "red"), None: ("?", "magenta")}


@click.command(cls=EvidenceCommand)
@click.option("--preset", metavar="NAME", help="Needs of a common job: quick, domestic, linked.")
@click.option("--count", type=click.IntRange(1, 1024), help="Boards, all of one backend.")
@click.option("--memory", metavar="SIZE", help="Free memory of each: 40GiB.")
@click.option("--dtype", metavar="TYPE", help="Element type that they compute in: bfloat16.")
@click.option(
    "--throughput",
    type=NumberRange(0, min_open=True),
    metavar="T/S",
    help="Nominal 10^12 operations a second in that type, of all together.",
)
@click.option(
    "--apart",
    type=click.Choice([relation.value for relation in Relation]),
    help="How far the farthest two may be, in the words of `accelhal topo`.",
)
@click.option("--backend", "backends", multiple=True, metavar="NAME", help="Take boards of these.")
@click.option("--not-backend", "refused", multiple=True, metavar="NAME", help="Take none of these.")
@click.option(
    "--country", "countries", multiple=True, metavar="CODE", help="Of vendors seated there: CN."
)
@click.option("--idle", is_flag=True, help="Only boards that no process holds.")
@click.option("--simulated", is_flag=True, help="Simulated boards too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@from_option
def select(
    preset: str | None,
    count: int | None,
    memory: str | None,
    dtype: str | None,
    throughput: float | None,
    apart: str | None,
    backends: tuple[str, ...],
    refused: tuple[str, ...],
    countries: tuple[str, ...],
    idle: bool,
    simulated: bool,
    as_json: bool,
    files: tuple[str, ...],
) -> ExitCode:
    """Rank the boards of this host for what a job needs, each choice with its reasons.

    Without options: one board, the best first. The exit code is 2 where no choice meets every
    need. Figures are the vendors' nominal ones; nothing is measured and nothing is opened.
    """
    from accelhal.facts.byte_size import parse_size
    from accelhal.selection import rank

    stated: dict[str, Any] = {
        "count": count,
        "memory": None if memory is None else parse_size(memory),
        "dtype": dtype,
        "throughput": None if throughput is None else throughput * 1e12,
        "apart": None if apart is None else Relation(apart),
        "backends": backends,
        "not_backends": refused,
        "countries": tuple(code.upper() for code in countries),
        "idle": idle or None,
        "simulated": simulated or None,
    }
    needs = replace(_preset(preset), **{k: v for k, v in stated.items() if v not in (None, ())})
    _check_backends(needs)
    heading, evidence, snapshot = _seen(files)
    with foreign_output():
        choices = rank(snapshot, needs)
    fits = any(choice.fits for choice in choices)
    if as_json:
        document = {"fits": fits, "choices": [_document(choice) for choice in choices]}
        print_json("select", {**evidence, **document})
    else:
        _show(choices, needs, heading)
    return ExitCode.FINE if fits else ExitCode.FAILURE


def _preset(name: str | None) -> Needs:
    from accelhal.errors import UsageError, did_you_mean
    from accelhal.selection import PRESETS, Needs

    if name is None:
        return Needs()
    if name not in PRESETS:
        known = "; ".join(f"{key}: {text}" for key, (_, text) in PRESETS.items())
        raise UsageError(
            f"there is no preset {name!r}",
            operation="select",
            hint=f"{did_you_mean(name, PRESETS)}{known}",
        )
    return PRESETS[name][0]


def _check_backends(needs: Needs) -> None:
    from accelhal.errors import UsageError, did_you_mean
    from accelhal.registry import backends

    known = [backend.name for backend in backends()]
    for name in (*needs.backends, *needs.not_backends):
        if name not in known:
            raise UsageError(
                f"no plugin provides the backend {name!r}",
                operation="select",
                hint=f"{did_you_mean(name, known)}installed: {', '.join(known)}",
            )


def _seen(files: Sequence[str]) -> tuple[str, dict[str, Any], Snapshot]:
    """What to say of the boards' source, the same for programs, and the boards."""
    if files:
        found = collect(files)
        return title(found), {"evidence": evidence_document(found)}, found.snapshot
    from accelhal.evidence.taking import take_snapshot

    with foreign_output():
        return "", {}, take_snapshot()


def _show(choices: Sequence[Choice], needs: Needs, heading: str) -> None:
    out = console()
    if heading:
        out.print(heading)
        out.print()
    if not choices:
        out.print("No accelerator board to choose from." + _mock_hint(needs))
        return
    out.print(_table(choices[:_SHOWN]))
    if len(choices) > _SHOWN:
        out.print(f"{len(choices) - _SHOWN} more: --json shows them")
    out.print()
    best = choices[0]
    if not best.fits:
        out.print("No choice meets every need.")
        return
    for name, value in _mask(best).items():
        out.print(f"export {name}={value}")


def _mock_hint(needs: Needs) -> str:
    return "" if needs.simulated else " Simulated boards count with --simulated."


def _table(choices: Sequence[Choice]) -> Table:
    from rich.text import Text

    from accelhal.cli.board_view import empty_table

    table = empty_table("", "Boards", "Device", "Reasons")
    for choice in choices:
        mark, colour = _MARKS[choice.fits]
        said = Text()
        for reason in choice.reasons:
            sign, paint = _MARKS[reason.met]
            said.append(f"{sign} ", paint).append(f"{reason.text}  ")
        names = dict.fromkeys(reading.board.name for reading in choice.boards)
        table.add_row(Text(mark, colour), _boards(choice), ", ".join(names), said)
    return table


def _boards(choice: Choice) -> str:
    backend = choice.boards[0].board.backend
    numbers = [
        board.tool_id or ("?" if board.index is None else str(board.index))
        for board in (reading.board for reading in choice.boards)
    ]
    return f"{backend} {','.join(numbers)}"


def _mask(choice: Choice) -> dict[str, str]:
    from accelhal.registry import backends
    from accelhal.selection import mask_for

    name = choice.boards[0].board.backend
    spec = next((b.spec for b in backends() if b.name == name and b.spec is not None), None)
    return {} if spec is None else dict(mask_for(choice.boards, spec))


def _document(choice: Choice) -> dict[str, Any]:
    from accelhal.cli.board_view import board_document

    return {
        "fits": choice.fits,
        "farthest": choice.farthest and choice.farthest.value,
        "boards": [board_document(reading.board) for reading in choice.boards],
        "reasons": [
            {"need": reason.need, "met": reason.met, "text": reason.text}
            for reason in choice.reasons
        ],
        "environment": _mask(choice),
    }
