"""A run over models and sizes: its rows, its record, and what a failure costs."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import weakref
from typing import Any

import pytest
import torch

import accelhal
from accelhal import bench
from accelhal.bench import RowStatus
from accelhal.errors import DeviceLostError, UsageError

FAST = {"device": "cpu", "seconds": 0.01}


def statuses(model: bench.ModelResult) -> list[RowStatus]:
    return [row.status for row in model.rows]


def test_rows_carry_all_numbers_smallest_batch_first(workload) -> None:
    result = bench.run([workload()], batch_sizes=[4, 1, 4], **FAST)
    (model,) = result.models
    assert [row.batch_size for row in model.rows] == [1, 4]
    for row in model.rows:
        assert row.status is RowStatus.MEASURED
        assert row.iterations >= 1
        assert row.throughput_samples_per_s > 0
        assert 0 < row.latency_min_ms <= row.latency_p50_ms
        assert row.latency_p50_ms <= row.latency_p95_ms <= row.latency_p99_ms
        assert 0 < row.peak_memory_percent < 100
    assert model.parameters == 20
    assert result.succeeded


def test_the_record_says_how_it_was_measured(workload) -> None:
    result = bench.run([workload()], batch_sizes=[1], **FAST)
    record = json.loads(json.dumps(result.as_dict()))
    assert record["device"] == "cpu:0"
    assert record["backend"] == "cpu"
    assert record["simulated"] is False
    assert record["clock"] == "host"
    assert record["torch_version"] == torch.__version__
    assert record["accelhal_version"] == accelhal.__version__
    assert record["threads"] == torch.get_num_threads()
    assert record["float32_precision"] == accelhal.device("cpu").float32_precision
    assert record["peak_memory_kind"] == "process"
    assert record["models"][0]["rows"][0]["status"] == "measured"


def test_a_device_with_native_events_and_counts_is_timed_by_them(board, workload) -> None:
    result = bench.run([workload()], board, batch_sizes=[8], seconds=0.01)
    (row,) = result.models[0].rows
    assert result.clock == "device_events"
    assert row.latency_p50_ms == row.latency_p99_ms == 2.0  # the toy's clock, not the host's
    assert result.simulated
    assert result.peak_memory_kind == "device"
    assert (row.peak_memory_bytes, row.peak_memory_percent) == (512, 25.0)
    assert result.float32_precision is None


def running_out_at(batch_size: int):
    def on_call(x: torch.Tensor) -> None:
        if len(x) >= batch_size:
            raise torch.OutOfMemoryError("tried to allocate 1 TiB")

    return on_call


def test_out_of_memory_is_a_row_and_ends_only_its_model(workload) -> None:
    models = [workload(running_out_at(8), "big"), workload(name="small")]
    result = bench.run(models, batch_sizes=[1, 8, 16, 32], **FAST)
    big, small = result.models
    assert statuses(big) == [
        RowStatus.MEASURED,
        RowStatus.OUT_OF_MEMORY,
        RowStatus.SKIPPED,
        RowStatus.SKIPPED,
    ]
    assert "tried to allocate 1 TiB" in big.rows[1].reason
    assert big.rows[2].reason == "batch 8 ran out of memory"
    assert set(statuses(small)) == {RowStatus.MEASURED}
    assert result.succeeded


def test_a_model_that_never_fits_has_not_succeeded(workload) -> None:
    result = bench.run([workload(running_out_at(1))], batch_sizes=[1, 2], **FAST)
    assert not result.succeeded


def test_what_a_failed_row_held_is_gone_before_the_next(workload) -> None:
    held: list[Any] = []

    def fill(x: torch.Tensor) -> None:
        activations = torch.ones(1000)
        held.append(weakref.ref(activations))
        raise torch.OutOfMemoryError("full")

    seen: list[bool] = []
    models = [
        workload(fill, "full"),
        workload(lambda x: seen.append(held[0]() is None), "next"),
    ]
    bench.run(models, batch_sizes=[1], **FAST)
    assert seen
    assert all(seen)


def test_a_failing_size_is_a_row_with_the_reason_and_the_others_run(workload) -> None:
    def on_call(x: torch.Tensor) -> None:
        if len(x) == 2:
            raise ValueError("an even batch of two")

    result = bench.run([workload(on_call)], batch_sizes=[1, 2, 3], **FAST)
    (model,) = result.models
    assert statuses(model) == [RowStatus.MEASURED, RowStatus.FAILED, RowStatus.MEASURED]
    assert model.rows[1].reason == "ValueError: an even batch of two"
    assert not result.succeeded


def test_a_lost_device_ends_the_run_with_what_was_measured(workload) -> None:
    def on_call(x: torch.Tensor) -> None:
        if len(x) == 2:
            raise DeviceLostError("fell off the bus")

    models = [workload(on_call, "first"), workload(name="second")]
    first, second = bench.run(models, batch_sizes=[1, 2, 3], **FAST).models
    assert statuses(first) == [RowStatus.MEASURED, RowStatus.FAILED, RowStatus.SKIPPED]
    assert statuses(second) == [RowStatus.SKIPPED] * 3
    assert second.rows[0].reason == "first at batch 2 left the device unusable"


def test_inference_runs_without_gradients_in_eval_mode(workload) -> None:
    seen: set[tuple[bool, bool]] = set()
    work = workload(lambda x: seen.add((torch.is_inference_mode_enabled(), work.module.training)))
    assert bench.run([work], batch_sizes=[1], **FAST).mode == "inference"
    assert seen == {(True, False)}


def test_training_moves_the_weights(workload) -> None:
    work = workload()
    before = work.module.linear.weight.detach().clone()
    result = bench.run([work], batch_sizes=[4], train=True, **FAST)
    assert result.succeeded
    assert result.mode == "training"
    assert not torch.equal(work.module.linear.weight, before)
    assert work.module.linear.weight.isfinite().all()


def test_a_half_precision_runs_under_autocast(workload) -> None:
    seen: set[tuple[bool, torch.dtype]] = set()

    def on_call(x: torch.Tensor) -> None:
        seen.add((torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")))

    result = bench.run([workload(on_call)], batch_sizes=[1], dtype="bfloat16", **FAST)
    assert result.dtype == "bfloat16"
    assert seen == {(True, torch.bfloat16)}


def test_a_device_without_autocast_says_so_before_the_run(board, workload) -> None:
    with pytest.raises(accelhal.UnsupportedError, match="autocast"):
        bench.run([workload()], board, dtype="float16")


def test_progress_is_told_before_each_row(workload) -> None:
    told: list[tuple[int, int, str]] = []
    models = [workload(running_out_at(1), "a"), workload(name="b")]
    bench.run(models, batch_sizes=[1, 2], progress=lambda *now: told.append(now), **FAST)
    assert told == [(0, 4, "a, batch 1"), (2, 4, "b, batch 1"), (3, 4, "b, batch 2")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": []}, "at least one"),
        ({"models": "mlp"}, "must be a list"),
        ({"models": ["nope"]}, "no model is named 'nope'"),
        ({"batch_sizes": []}, "no batch size"),
        ({"batch_sizes": [0]}, "positive integer, not 0"),
        ({"batch_sizes": [-1]}, "positive integer, not -1"),
        ({"batch_sizes": [1.5]}, "positive integer, not 1.5"),
        ({"batch_sizes": [True]}, "positive integer, not True"),
        ({"seconds": 0}, "positive number, not 0"),
        ({"seconds": math.nan}, "positive number, not nan"),
        ({"seconds": math.inf}, "positive number, not inf"),
        ({"dtype": "int8"}, "'int8' is not a dtype"),
    ],
)
def test_bad_options_are_told_before_anything_runs(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        bench.run(**{"models": ["mlp"], "device": "cpu", **options})


def test_importing_the_package_takes_no_torch() -> None:
    code = "import sys, accelhal.bench as b; b.run, b.BUILT_IN; print('torch' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert out.stdout.strip() == "False", out.stderr


@pytest.mark.parametrize("error", [SystemExit(0), StopIteration(), RecursionError()])
def test_whatever_a_model_raises_costs_its_own_row(workload, error: BaseException) -> None:
    def leave(x: torch.Tensor) -> None:
        raise error

    result = bench.run([workload(leave), workload()], batch_sizes=[1], **FAST)
    assert [statuses(model) for model in result.models] == [
        [RowStatus.FAILED],
        [RowStatus.MEASURED],
    ]
    assert type(error).__name__ in result.models[0].rows[0].reason


def test_an_interrupt_ends_the_run(workload) -> None:
    def interrupt(x: torch.Tensor) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.run([workload(interrupt)], batch_sizes=[1], **FAST)


class Returning(torch.nn.Module):
    """A lazy layer whose output is of any kind."""

    def __init__(self, output: Any) -> None:
        super().__init__()
        self.linear = torch.nn.LazyLinear(2)
        self.output = output

    def forward(self, x: torch.Tensor) -> Any:
        return self.output(self.linear(x))


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (lambda y: "text", "returned a str, which has no gradient"),
        (lambda y: [], "returned a list, which has no gradient"),
        (lambda y: {}, "which has no gradient"),
        (lambda y: {"logits": []}, "which has no gradient"),
        (lambda y: None, "returned a NoneType, which has no gradient"),
    ],
)
def test_an_output_without_a_tensor_cannot_be_trained(output: Any, reason: str) -> None:
    model = bench.Workload("odd", Returning(output), lambda size: torch.randn(size, 4))
    (row,) = bench.run([model], batch_sizes=[1], train=True, **FAST).models[0].rows
    assert (row.status, reason in row.reason) == (RowStatus.FAILED, True)


@pytest.mark.parametrize("output", [tuple, list, lambda y: {"logits": (y,)}])
def test_the_first_tensor_of_an_output_is_trained(output: Any) -> None:
    nested = Returning(lambda y: output((y,)) if output in (tuple, list) else output(y))
    model = bench.Workload("nested", nested, lambda size: torch.randn(size, 4))
    (row,) = bench.run([model], batch_sizes=[1], train=True, **FAST).models[0].rows
    assert row.status is RowStatus.MEASURED, row.reason


def test_weights_that_were_never_made_are_not_counted() -> None:
    def no_batch(size: int) -> torch.Tensor:
        raise OSError("no data")

    model = bench.Workload("lazy", Returning(tuple), no_batch)
    (result,) = bench.run([model], batch_sizes=[1], **FAST).models
    assert (result.parameters, statuses(result)) == (0, [RowStatus.FAILED])
