"""A whole run: every model over every batch size, one row each, whatever fails on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from accelhal import __version__
from accelhal.bench.catalogue import BUILT_IN
from accelhal.bench.clock import clock_for
from accelhal.bench.factory import check_name, load_workload
from accelhal.bench.memory import PeakMemory
from accelhal.bench.results import BenchResult, ModelResult, Row, RowStatus
from accelhal.bench.settings import BATCH_SIZES, SECONDS, Settings
from accelhal.bench.workload import Workload
from accelhal.errors import UsageError, described
from accelhal.facade import Device, device as open_device

if TYPE_CHECKING:
    from accelhal.bench.row import Bench

Progress = Callable[[int, int, str], None]
"""Called before each row: rows done, rows in all, what comes now."""


def run(
    models: Sequence[str | Workload] = tuple(BUILT_IN),
    device: Device | str | None = None,
    *,
    batch_sizes: Iterable[int] = BATCH_SIZES,
    seconds: float = SECONDS,
    dtype: str = "float32",
    train: bool = False,
    progress: Progress | None = None,
) -> BenchResult:
    """Measure models on a device.

    A size that does not fit into memory is a row that says so and ends its model; any other
    failure is a row with the reason. An error that spoils the device or the process ends the run.

    Args:
        models: built-in names, "package.module:factory" names, or workloads.
        device: device or its name; None for the one that `accelhal.device()` chooses.
        batch_sizes: samples in a batch; run once each, smallest first.
        seconds: time for each row; a slow model takes up to a few times as much.
        dtype: "float32", "float16" or "bfloat16"; the latter two through autocast.
        train: measure forward, backward and an SGD step instead of inference.
        progress: told before each row.

    Raises:
        UsageError: an unknown model, a bad factory, batch size, time or element type.
        BackendError, DeviceError, UnsupportedError: the device cannot be opened, or has no
            autocast.
    """
    settings = Settings(tuple(batch_sizes), seconds, dtype, train)
    _check_models(models)
    opened = open_device(device)
    # Opening the device is what loads torch, past a broken vendor package; no import goes before.
    from accelhal.bench.row import Bench, autocast_for

    bench = Bench(
        device=opened,
        clock=clock_for(opened),
        memory=PeakMemory(opened),
        settings=settings,
        autocast=autocast_for(opened, dtype),
    )
    # The user's factories are called now: a bad one ends the run before it took any time.
    ready = [
        load_workload(model) if isinstance(model, str) and model not in BUILT_IN else model
        for model in models
    ]
    return _describe(bench, _measure_all(bench, ready, progress))


def _check_models(models: Sequence[str | Workload]) -> None:
    if isinstance(models, str) or not models:
        raise UsageError(
            f"the models must be a list of at least one, not {models!r}", operation="bench"
        )
    for model in models:
        if isinstance(model, str):
            check_name(model)


def _measure_all(
    bench: Bench, models: Sequence[str | Workload], progress: Progress | None
) -> tuple[ModelResult, ...]:
    sizes = bench.settings.batch_sizes
    results: list[ModelResult] = []
    spoilt = ""

    def announce(rows: int, name: str, size: int) -> None:
        if progress:
            done = len(results) * len(sizes) + rows
            progress(done, len(models) * len(sizes), f"{name}, batch {size}")

    for model in models:
        workload = load_workload(model) if isinstance(model, str) else model
        if spoilt:
            rows = tuple(Row(size, RowStatus.SKIPPED, reason=spoilt) for size in sizes)
        else:
            rows, spoilt = _measure_model(bench, workload, announce)
        results.append(ModelResult(workload.name, _parameters(workload), rows))
    return tuple(results)


def _measure_model(
    bench: Bench, workload: Workload, announce: Callable[[int, str, int], None]
) -> tuple[tuple[Row, ...], str]:
    """The model's rows, and why the device cannot be used for another model (or nothing)."""
    from accelhal.bench.row import measure_row, retire

    rows: list[Row] = []
    skip = spoilt = ""
    for size in bench.settings.batch_sizes:
        if skip:
            rows.append(Row(size, RowStatus.SKIPPED, reason=skip))
            continue
        announce(len(rows), workload.name, size)
        row, failure = measure_row(bench, workload, size)
        rows.append(row)
        if row.status is RowStatus.OUT_OF_MEMORY:
            skip = f"batch {size} ran out of memory"
        elif failure is not None and failure.sticky:
            skip = spoilt = f"{workload.name} at batch {size} left the device unusable"
    if not spoilt:
        try:
            retire(bench, workload)
        except Exception as error:  # the numbers so far are worth more than this model's weights
            spoilt = f"{workload.name} could not be taken off the device: {described(error)}"
    return tuple(rows), spoilt


def _parameters(workload: Workload) -> int:
    from torch.nn.parameter import is_lazy

    # A lazy module that never ran has parameters without a size.
    weights = (weight for weight in workload.module.parameters() if not is_lazy(weight))
    return sum(weight.numel() for weight in weights)


def _describe(bench: Bench, models: tuple[ModelResult, ...]) -> BenchResult:
    import torch

    device, settings = bench.device, bench.settings
    return BenchResult(
        accelhal_version=__version__,
        torch_version=torch.__version__,
        device=str(device),
        device_name=device.properties.name,
        backend=device.backend,
        simulated=device.simulated,
        clock=bench.clock.name,
        dtype=settings.dtype,
        float32_precision=(
            device.float32_precision if device.supports("float32_precision") else None
        ),
        mode="training" if settings.train else "inference",
        threads=torch.get_num_threads(),
        seconds=settings.seconds,
        total_memory_bytes=bench.memory.total,
        peak_memory_kind=bench.memory.kind,
        models=models,
    )
