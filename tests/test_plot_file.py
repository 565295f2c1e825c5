"""A plot that cannot be written is told of before the work that it would show."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from accelhal.errors import AccelhalError, UsageError
from accelhal.plot_file import check_plot_file


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing/bench.png", "does not exist"),
        ("bench", "must end in an image format"),
        ("bench.docx", "must end in an image format"),
        ("folder.png", "is a folder"),
        ("pipe.png", "is no regular file"),
        ("full.png", "is no regular file"),
        ("circle.png", "symbolic links"),
    ],
)
def test_a_path_that_cannot_be_written_is_told_at_once(
    tmp_path: Path, name: str, reason: str
) -> None:
    (tmp_path / "folder.png").mkdir()
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "full.png").symlink_to("/dev/full")
    (tmp_path / "circle.png").symlink_to(tmp_path / "circle.png")
    with pytest.raises(UsageError, match=reason):
        check_plot_file(tmp_path / name)


def test_without_matplotlib_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    with pytest.raises(AccelhalError) as caught:
        check_plot_file(tmp_path / "bench.png")
    assert not isinstance(caught.value, UsageError)
    assert "accelhal[plot]" in str(caught.value)


def test_looking_leaves_no_file_and_harms_none(tmp_path: Path) -> None:
    check_plot_file(tmp_path / "new.png")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "old.png").write_bytes(b"kept")
    check_plot_file(tmp_path / "old.png")
    assert (tmp_path / "old.png").read_bytes() == b"kept"


def test_a_folder_where_nothing_can_be_made_is_told_to_root_too() -> None:
    with pytest.raises(UsageError, match=r"cannot be written to /proc/bench\.png"):
        check_plot_file(Path("/proc/bench.png"))
