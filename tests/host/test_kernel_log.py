"""The kernel's log, read from a file or pipe that stands for /dev/kmsg."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from host_tree import HostTree

from accelhal.host.kernel_log import KMSG, read_kernel_log

LINES = ("6,1,10,-;Linux version 6.8", "4,2,20,-;NVRM: loading", "3,3,30,-;PCIe Bus Error")


def test_the_lines_oldest_first(tmp_path: Path) -> None:
    host = HostTree(tmp_path).file(KMSG, "\n".join(LINES) + "\n").host
    assert read_kernel_log(host) == LINES


def test_only_the_latest_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accelhal.host.kernel_log.MOST_LINES", 2)
    host = HostTree(tmp_path).file(KMSG, "\n".join(LINES) + "\n").host
    assert read_kernel_log(host) == LINES[1:]


def test_the_end_of_the_ring_is_not_waited_for(tmp_path: Path) -> None:
    host = HostTree(tmp_path).file("/dev/null", "").host
    path = host.path(KMSG)
    os.mkfifo(path)
    both = os.open(path, os.O_RDWR | os.O_NONBLOCK)  # a writer that stays: no end of file comes
    try:
        os.write(both, f"{LINES[0]}\n".encode())
        assert read_kernel_log(host) == LINES[:1]
    finally:
        os.close(both)


def test_damaged_text_is_read(tmp_path: Path) -> None:
    host = HostTree(tmp_path).file(KMSG, "").host
    Path(host.path(KMSG)).write_bytes(b"6,1,10,-;\xff\xfe board\n")
    (line,) = read_kernel_log(host)
    assert line.endswith("board")


def test_a_log_that_is_not_there_is_a_reason(tmp_path: Path) -> None:
    assert read_kernel_log(HostTree(tmp_path).host) == f"{KMSG}: No such file or directory"
