"""Pages of one host make one look: the same chip under its several names."""

from __future__ import annotations

from functools import reduce
from itertools import permutations

import pytest
from accelhal_ascend.evidence import READERS
from captured_samples import npu_smi
from captured_samples.npu_smi import chip, table
from captured_samples.reading import read

from accelhal.evidence.contradictions import ContradictionError
from accelhal.evidence.merging import merged
from accelhal.facts import BoardKey, Evidence, Relation

TABLE = table(*chip(0), *chip(4))
A3_TOPOLOGY = "\n".join(
    line.rpartition(" ")[0].rstrip() if line.startswith(("Phy", " ")) else line
    for line in npu_smi.A3_TOPOLOGY.splitlines()
    if not line.startswith("Phy-ID14")
)


def look(*texts: str) -> Evidence:
    found = read(READERS, "".join(texts))
    assert not found.unread, [str(unread) for unread in found.unread]
    return reduce(merged, (section.evidence for section in found.sections))


@pytest.mark.parametrize("order", list(permutations((TABLE, npu_smi.MAPPING, npu_smi.USAGES))))
def test_pages_in_any_order_name_the_chips_by_the_drivers_numbers(order: tuple[str, ...]) -> None:
    found = {board.board.tool_id: board for board in look(*order).boards}
    assert set(found) == {"0.0", "4.0"}
    assert found["4.0"].board.key == BoardKey("npu", "logic-id", "1")
    assert found["4.0"].board.pci == "0000:14:00.0"
    assert found["4.0"].telemetry is not None
    assert found["4.0"].telemetry.memory_bandwidth_utilization == 9
    assert found["4.0"].telemetry.power == 101.8


def test_every_page_of_a_card_joins_its_row() -> None:
    pages = [npu_smi.USAGES, npu_smi.MEMORY, npu_smi.TEMPERATURE, npu_smi.HEALTH, npu_smi.ECC]
    found = look(TABLE, *pages, npu_smi.CARD_BOARD)
    assert len(found.boards) == 2
    whole = found.boards[1]
    assert whole.board.serial == "000111222333"
    assert whole.memory_errors is not None
    assert whole.telemetry is not None
    assert whole.telemetry.memory_clock == 1600


def test_the_two_chips_of_a3_keep_apart_in_table_mapping_and_matrix() -> None:
    text = "\n".join(npu_smi.A3_TOPOLOGY.splitlines()[:3]).replace("   Phy-ID14", "")
    matrix = text.replace("        HCCS_SW", "") + "\n"
    found = look(npu_smi.A3, matrix, npu_smi.A3_MAPPING)
    assert [board.board.index for board in found.boards] == [0, 1]
    assert [board.board.key and board.board.key.value for board in found.boards] == ["0", "1"]
    assert [relation.relation for relation in found.relations] == [Relation.BOARD]


def test_another_hosts_mapping_contradicts() -> None:
    other = npu_smi.MAPPING.replace(
        "	0                              0                              0", "	0 0 1"
    )
    text = npu_smi.TWO + other.replace(
        "	4                              0                              1", "	4 0 0"
    )
    with pytest.raises(ContradictionError):
        look(text)
