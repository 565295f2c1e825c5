"""The plot: an image where it was asked for, or one error before the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from accelhal import bench
from accelhal.bench.plot import draw
from accelhal.errors import UsageError
from accelhal.plot_file import check_plot_file


def test_the_plot_is_a_png(tmp_path: Path, workload) -> None:
    path = tmp_path / "bench.png"
    check_plot_file(path)
    draw(bench.run([workload()], "cpu", batch_sizes=[1, 4], seconds=0.01), path)
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_a_run_without_a_number_leaves_no_file(tmp_path: Path, workload) -> None:
    def fail(x: object) -> None:
        raise ValueError("never")

    result = bench.run([workload(fail)], "cpu", batch_sizes=[1], seconds=0.01)
    with pytest.raises(UsageError, match="nothing was measured"):
        draw(result, tmp_path / "bench.png")
    assert list(tmp_path.iterdir()) == []
