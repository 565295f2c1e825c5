"""`npu-smi info -t topo`: every relation, and whose rows they are."""

from __future__ import annotations

import pytest
from accelhal_ascend.evidence import READERS
from captured_samples import npu_smi
from captured_samples.reading import only, read, refusal

from accelhal.facts import Relation


def relations(text: str) -> dict[tuple[int, int], Relation]:
    return {(r.one, r.other): r.relation for r in only(READERS, text).relations}


def test_pairs_and_near_cpus() -> None:
    found = only(READERS, npu_smi.TOPOLOGY)
    assert relations(npu_smi.TOPOLOGY) == {(0, 1): Relation.LINK, (0, 2): Relation.PHB}
    assert [board.board.index for board in found.boards] == [0, 1, 2]
    near = [board.details and board.details.cpu_affinity for board in found.boards]
    assert near == [(0, 1, 2, 3), (0, 1, 2, 3), (4, 5, 7)]


@pytest.mark.parametrize(
    ("word", "relation"),
    [
        ("SYS", Relation.SYS),
        ("PHB", Relation.PHB),
        ("PIX", Relation.PIX),
        ("PXB", Relation.PXB),
        ("HCCS", Relation.LINK),
        ("HCCS_SW", Relation.LINK),
        ("XLink", Relation.LINK),
        ("UB", Relation.LINK),
        ("SIO", Relation.BOARD),
        ("NA", None),
    ],
)
def test_the_words_of_the_matrix(word: str, relation: Relation | None) -> None:
    text = f"\t   NPU0  NPU1  CPU Affinity\nNPU0  X  {word}  0-3\nNPU1  {word}  X  0-3\n"
    assert relations(text).get((0, 1)) is relation


def test_a3_names_its_chips_by_their_files() -> None:
    found = only(READERS, npu_smi.A3_TOPOLOGY).boards
    assert [board.details and board.details.node for board in found] == [12, 13, 14]
    assert [board.board.tool_id for board in found] == ["6.0", "6.1", "7.0"]
    assert [board.board.index for board in found] == [None] * 3


def test_columns_of_network_cards_are_passed_over() -> None:
    found = read(READERS, npu_smi.A950_TOPOLOGY)
    evidence = found.sections[0].evidence
    assert [r.relation for r in evidence.relations] == [Relation.LINK]
    assert evidence.notes == ("npu-smi info -t topo also shows ens1.",)
    near = [board.details and board.details.cpu_affinity for board in evidence.boards]
    assert near == [(0, 1, 2, 3), (4, 5, 6, 7)]


def test_one_chip_alone() -> None:
    (board,) = only(READERS, "\t   NPU0       CPU Affinity\nNPU0       X          0-3\n").boards
    assert board.board.tool_id == "0.0"


def test_cards_with_gaps_have_no_certain_numbers() -> None:
    found = only(READERS, npu_smi.TOPOLOGY.replace("NPU2", "NPU5")).boards
    assert [(b.board.tool_id, b.board.index) for b in found] == [
        ("0.0", None),
        ("1.0", None),
        ("5.0", None),
    ]


def test_several_prints_in_one_file() -> None:
    found = read(READERS, npu_smi.TOPOLOGY + "$ again\n" + npu_smi.TOPOLOGY + npu_smi.A3_TOPOLOGY)
    assert len(found.sections) == 3
    assert not found.unread


def test_an_affinity_that_is_no_list_is_none() -> None:
    found = only(READERS, npu_smi.TOPOLOGY.replace("4-5,7", "none")).boards
    assert found[2].details is not None
    assert found[2].details.cpu_affinity is None


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("NPU2       PHB", "NPU9       PHB", "the row of NPU2 is missing"),
        ("PHB        NA         X          4-5,7", "PHB        NA", "the row is cut off"),
        ("X          NA ", "X          NV ", "a relation that is not known: 'NV'"),
        ("PHB        NA         X ", "SYS        NA         X ", "SYS from NPU2 to NPU0"),
        ("NPU0       X ", "NPU0       NA", "wrong column"),
        ("NPU1       NPU2       CPU", "NPU1       NPU1       CPU", "names of the chips"),
        ("NPU1       NPU2       CPU", "NPU1       Phy-ID2    CPU", "named in two ways"),
        ("4-5,7", "4-5 7 8", "more columns"),
    ],
)
def test_a_damaged_matrix_is_refused(old: str, new: str, reason: str) -> None:
    assert reason in refusal(READERS, npu_smi.TOPOLOGY.replace(old, new, 1))
