"""`accelhal bench`: throughput, latency and memory of real models on a device."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

import accelhal
from accelhal import bench as benchmark
from accelhal.bench import BUILT_IN, QUICK, BenchResult
from accelhal.bench.factory import check_name
from accelhal.bench.settings import BATCH_SIZES, DTYPES, SECONDS, Settings
from accelhal.cli.current_folder import current_folder
from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.output import console, foreign_output, print_json
from accelhal.errors import (
    BackendNotFoundError,
    DeviceNotFoundError,
    UsageError,
)
from accelhal.registry.choosing import DEVICE_VARIABLE

if TYPE_CHECKING:
    from accelhal.bench.sweep import Progress

QUICK_SECONDS = 0.3
"""Time for a row under --quick: six rows and the start-up end within 20 s on two cores."""


def _batch_sizes(
    context: click.Context, parameter: click.Parameter, text: str | None
) -> tuple[int, ...]:
    """Integers with commas between them; their range is checked with the other settings."""
    if text is None:
        return BATCH_SIZES
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of integers such as 1,8,32") from None


@click.command()
@click.option("--device", "device_name", metavar="NAME", help="Such as cpu; default: the best one.")
@click.option(
    "--model",
    "models",
    metavar="NAME",
    multiple=True,
    help=f"One of {', '.join(BUILT_IN)}, or your own package.module:factory. May be repeated; "
    "default: all built-in ones.",
)
@click.option(
    "--batch-sizes",
    callback=_batch_sizes,
    metavar="N,N,...",
    help=f"Default: {','.join(map(str, BATCH_SIZES))}.",
)
@click.option(
    "--seconds",
    type=float,
    metavar="S",
    help=f"Time for each row. Default: {SECONDS:g}; {QUICK_SECONDS:g} with --quick.",
)
@click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    default="float32",
    show_default=True,
    help="Half precisions run through autocast.",
)
@click.option("--train", is_flag=True, help="Measure a training step instead of inference.")
@click.option("--quick", is_flag=True, help=f"{' and '.join(QUICK)} only, done in seconds.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE.png", help="Draw a plot.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def bench(
    device_name: str | None,
    models: tuple[str, ...],
    batch_sizes: tuple[int, ...],
    seconds: float | None,
    dtype: str,
    train: bool,
    quick: bool,
    plot: Path | None,
    as_json: bool,
) -> ExitCode:
    """Measure throughput, latency and peak memory of models on a device.

    A factory takes no arguments and returns (module, make_batch), where make_batch(n) makes a batch
    of n samples, or (module, example), where example is the input for one sample. Modules are
    looked for in the current folder too.

    Exit code 2 where a model failed or could not be measured at any batch size; a batch that does
    not fit into memory is a result.
    """
    if seconds is None:
        seconds = QUICK_SECONDS if quick else SECONDS
    wanted = models or (QUICK if quick else tuple(BUILT_IN))
    # Whatever is wrong with the call is told before torch is loaded, which takes seconds.
    for name in wanted:
        check_name(name)
    Settings(batch_sizes, seconds, dtype, train)
    folder = current_folder("bench")
    if plot is not None:
        from accelhal.plot_file import check_plot_file

        check_plot_file(plot)
    with foreign_output():
        device = _open(device_name)
        if not set(wanted) <= set(BUILT_IN):
            sys.path.insert(0, folder)
        with _progress_bar(str(device)) as progress:
            result = benchmark.run(
                wanted,
                device,
                batch_sizes=batch_sizes,
                seconds=seconds,
                dtype=dtype,
                train=train,
                progress=progress,
            )
    _print(result, as_json)
    if plot is not None and any(model.measured for model in result.models):
        _draw(result, plot)
    return ExitCode.FINE if result.succeeded else ExitCode.FAILURE


def _open(name: str | None) -> accelhal.Device:
    """The device of that name, or the best one."""
    try:
        return accelhal.device(name)
    except (BackendNotFoundError, DeviceNotFoundError) as error:
        # A name that means nothing here is a usage error; a named board that is away is not.
        named = name or os.environ.get(DEVICE_VARIABLE)
        absent = isinstance(error, DeviceNotFoundError) and error.operation != "device"
        if named and not absent:
            raise UsageError(error.message, device=named, hint=error.hint) from error
        raise


@contextmanager
def _progress_bar(device: str) -> Iterator[Progress | None]:
    """A bar on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress

    bar = progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        console=console(stderr=True),
        transient=True,
        auto_refresh=False,  # a drawing thread would take time from the model
    )
    with bar:
        task = bar.add_task(device, total=None)

        def show(done: int, total: int, label: str) -> None:
            description = f"{device}: {label}"
            bar.update(task, completed=done, total=total, description=description, refresh=True)

        yield show


def _print(result: BenchResult, as_json: bool) -> None:
    if as_json:
        print_json("bench", result.as_dict())
        return
    from accelhal.cli.bench_view import show_result

    show_result(console(), result)


def _draw(result: BenchResult, path: Path) -> None:
    from accelhal.bench.plot import draw

    try:
        draw(result, path)
    except OSError as error:
        raise accelhal.AccelhalError(
            f"the plot cannot be written to {path}: {error.strerror}", operation="plot"
        ) from error
    click.echo(f"plot: {path}", err=True)
