from __future__ import annotations

import os
from pathlib import Path

import pytest
from host_tree import HostTree

from accelhal.host import Host
from accelhal.host.device_nodes import DeviceNodes, find_nodes

BOARDS = DeviceNodes("/dev/board[0-9]*", per_board=True)


def test_nodes_come_in_natural_order_and_control_nodes_stay_out(tmp_path: Path) -> None:
    tree = HostTree(tmp_path)
    tree.files("/dev/board10", "/dev/board2", "/dev/boardctl", "/dev/board_manager")
    found = find_nodes(tree.host, BOARDS)
    assert [node.path for node in found] == ["/dev/board2", "/dev/board10"]
    assert all(node.readable and node.writable for node in found)


def test_an_absent_folder_has_no_nodes(tmp_path: Path) -> None:
    assert find_nodes(Host(tmp_path, {}), BOARDS) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open everything")
def test_missing_rights_are_told_apart(tmp_path: Path) -> None:
    tree = HostTree(tmp_path).files("/dev/board0")
    (tree.root / "dev/board0").chmod(0o400)
    (node,) = find_nodes(tree.host, BOARDS)
    assert node.readable
    assert not node.writable
