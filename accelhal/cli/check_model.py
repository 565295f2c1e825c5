"""`accelhal check-model`: the operators that a model runs, and how a backend runs each of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from accelhal.cli.current_folder import current_folder
from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.output import console, foreign_output, print_json
from accelhal.device_name import parse_device_name
from accelhal.errors import UsageError
from accelhal.operators.inputs import parse_input
from accelhal.operators.model_call import OPERATION, check_model_name
from accelhal.operators.trace_on import TraceOn

if TYPE_CHECKING:
    from accelhal.operators.trace import Progress


@click.command("check-model")
@click.argument("model")
@click.option("--device", metavar="NAME", required=True, help="The backend to check for.")
@click.option(
    "--input",
    "inputs",
    metavar="DTYPE[SIZES]",
    multiple=True,
    help="Such as float32[8,128], or ids=int64[1,16] for an argument by name. May be repeated.",
)
@click.option(
    "--trace",
    "on",
    type=click.Choice([place.value for place in TraceOn]),
    default=TraceOn.CPU.value,
    show_default=True,
    help="Where the model runs meanwhile; fake: shapes without values, for large models.",
)
@click.option("--backward", is_flag=True, help="Check the backward pass too.")
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Operators of the backend as recorded on another machine.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show every operator, not the remarkable ones.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print tables in Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def check_model(
    model: str,
    device: str,
    inputs: tuple[str, ...],
    on: str,
    backward: bool,
    record: Path | None,
    verbose: bool,
    as_markdown: bool,
    as_json: bool,
) -> ExitCode:
    """Show which operators of a model a backend runs itself, and which not.

    MODEL is package.module:factory. The factory takes no arguments and returns a torch.nn.Module,
    (module, inputs) or (module, args, kwargs). The device need not be there. Modules are looked for
    in the current folder too.

    Exit code 0 where the backend runs every operator itself, 2 where one is missing or falls back
    to the CPU, 3 where that cannot be told.
    """
    # Whatever is wrong with the call is told before torch is loaded, which takes seconds.
    check_model_name(model)
    parse_device_name(device)
    specs = [parse_input(text) for text in inputs]
    if as_json and as_markdown:
        raise UsageError("--json and --markdown exclude one another", operation=OPERATION)
    if record is not None and on == TraceOn.DEVICE.value:
        raise UsageError(
            "--record is for a device that is not here, --trace device for one that is",
            operation=OPERATION,
        )
    folder = current_folder(OPERATION)
    from accelhal import operators

    with foreign_output(), _progress(model) as progress:
        sys.path.insert(0, folder)
        found = operators.check_model(
            model,
            device,
            inputs=specs,
            on=on,
            backward=backward,
            record=record,
            progress=progress,
        )
    from accelhal.cli import check_model_view as view

    if as_json:
        print_json("check-model", found.as_dict())
    elif as_markdown:
        click.echo(view.markdown(found, verbose=verbose), nl=False)
    else:
        view.show_check(console(), found, verbose=verbose)
    return view.EXIT_CODES[found.verdict]


@contextmanager
def _progress(model: str) -> Iterator[Progress | None]:
    """What is being done, on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    with console(stderr=True).status(f"{model}: loading torch") as status:
        yield lambda label: status.update(f"{model}: {label}")
