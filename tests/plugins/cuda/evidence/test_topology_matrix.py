"""`nvidia-smi topo -m`: relations, links and affinities, with and without network cards."""

from __future__ import annotations

import pytest
from accelhal_cuda.evidence import READERS
from captured_samples.nvidia_smi import TOPOLOGY, TOPOLOGY_OLD
from captured_samples.reading import only, read, refusal

from accelhal.facts import BoardKey, BoardRelation, Link, Relation


def test_a_matrix_with_network_cards_and_legends() -> None:
    found = only(READERS, TOPOLOGY)
    assert [reading.board.key for reading in found.boards] == [
        BoardKey("cuda", "visible-order", str(number)) for number in range(3)
    ]
    assert found.relations == (
        BoardRelation(0, 1, Relation.LINK),
        BoardRelation(0, 2, Relation.SYS),
        BoardRelation(1, 2, Relation.SYS),
    )
    one, other, last = found.boards
    assert one.links == (Link("NVLink", other.board.key, lanes=12),)
    assert other.links == (Link("NVLink", one.board.key, lanes=12),)
    assert last.links is None
    assert one.details is not None
    assert one.details.cpu_affinity == (0, 1, 2, 3, 8)
    assert (one.board.numa_node, last.board.numa_node) == (0, None), "two nodes are none"


def test_an_old_matrix() -> None:
    found = only(READERS, TOPOLOGY_OLD)
    assert found.relations == (BoardRelation(0, 1, Relation.BOARD),)
    assert [reading.board.numa_node for reading in found.boards] == [None, None]
    details = found.boards[0].details
    assert details is not None
    assert details.cpu_affinity == tuple(range(14))


def test_terminal_colours_are_no_part_of_the_header() -> None:
    coloured = TOPOLOGY.replace("GPU0\tGPU1", "\x1b[4mGPU0\tGPU1", 1).replace(
        "ID\n", "ID\x1b[0m\n", 1
    )
    assert only(READERS, coloured) == only(READERS, TOPOLOGY)


def test_rows_without_affinities() -> None:
    found = only(READERS, TOPOLOGY.replace("0-3,8\t0\t\tN/A", ""))
    assert found.boards[0].details is None
    assert len(found.relations) == 3


def test_an_affinity_that_could_be_either_is_none() -> None:
    found = only(READERS, TOPOLOGY.replace("0-3,8\t0\t\tN/A", "0-3,8\t\t\tN/A"))
    assert (found.boards[0].details, found.boards[0].board.numa_node) == (None, None)


@pytest.mark.parametrize("said", ["N/A", "3-1", "0-99999999", "all"])
def test_what_is_no_list_of_cpus(said: str) -> None:
    found = only(READERS, TOPOLOGY.replace("4-7", said))
    details = found.boards[2].details
    assert details is not None
    assert details.cpu_affinity is None
    assert said in details.reasons["cpu_affinity"]


def test_a_pair_of_which_the_tool_says_nothing() -> None:
    found = only(READERS, TOPOLOGY_OLD.replace("PSB", "N/A"))
    assert found.relations == ()


def test_two_matrices_in_a_row() -> None:
    one, other = (text.partition("\n\n")[0] for text in (TOPOLOGY, TOPOLOGY_OLD))
    found = read(READERS, f"{one}\n{other}")
    assert [len(section.evidence.boards) for section in found.sections] == [3, 2]
    assert not found.unread


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("GPU2\tSYS", "...\tSYS", "no row of GPU2"),
        ("GPU1\tNV12\t X \tSYS", "GPU1\tNV6\t X \tSYS", "both 'NV12' and 'NV6'"),
        ("GPU1\tNV12\t X ", "GPU1\tNV12\tSYS", "meets itself"),
        ("\tNV12\tSYS", "\tWIFI\tSYS", "'WIFI' is no relation"),
        ("GPU2\tSYS\tSYS", "GPU2\tSYS\tWIFI", "'WIFI' is no relation"),
        ("NIC0\tNIC1\tCPU", "NIC0\tNIC0\tCPU", "two columns"),
        ("GPU0\tGPU1\tGPU2\tNIC0", "GPU0\tGPU1\tNIC0\tGPU2", "columns"),
        ("GPU NUMA ID", "GPU NAME", "columns"),
        ("GPU1\tNV12\t X \tSYS\tPXB", "GPU1\tNV12\t X ", "'0-3,8' is no relation"),
        ("NIC0\tPIX\tPXB\tSYS\t X \tSYS", "NIC0\tPIX\tPXB", "cells"),
        ("GPU1\tNV12\t X \tSYS\tPXB", "GPU0\tNV12\t X \tSYS\tPXB", "second row"),
    ],
)
def test_matrices_that_are_refused(old: str, new: str, reason: str) -> None:
    assert old in TOPOLOGY
    found = read(READERS, TOPOLOGY.replace(old, new, 1))
    assert not found.sections
    assert reason in found.unread[0].reason


def test_a_word_that_is_no_relation() -> None:
    assert "'WIFI' is no relation" in refusal(READERS, TOPOLOGY_OLD.replace("PSB", "WIFI"))
