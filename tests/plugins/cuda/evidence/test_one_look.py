"""Several pages of one host make one look, in whatever order they stand."""

from __future__ import annotations

from functools import reduce
from itertools import permutations

import pytest
from accelhal_cuda.evidence import READERS
from accelhal_cuda.spec import SPEC
from captured_samples.nvidia_smi import FIRST, FIRST_SLICE, QUERY, SECOND_SLICE, TABLE_590
from captured_samples.reading import only

from accelhal.evidence.merging import merged
from accelhal.facts import BoardKey, HealthStatus
from accelhal.registry.extensions import load_extension

LISTING = f"""\
GPU 0: Toy H9 80GB (UUID: {FIRST})
  MIG 3g.40gb     Device  0: (UUID: {FIRST_SLICE})
  MIG 2g.20gb     Device  1: (UUID: {SECOND_SLICE})
"""
MATRIX = "\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-3\t1\n"


@pytest.mark.parametrize("order", [*permutations([LISTING, TABLE_590, QUERY, MATRIX])])
def test_pages_of_one_host(order: tuple[str, ...]) -> None:
    found = reduce(merged, (only(READERS, text) for text in order))
    board, first, second = sorted(
        found.boards, key=lambda reading: (reading.board.parent is not None, reading.board.index)
    )
    assert board.board.key == BoardKey("cuda", "uuid", FIRST)
    assert (board.board.pci, board.board.numa_node) == ("0000:00:09.0", 1)
    assert board.details is not None
    assert board.details.cpu_affinity == (0, 1, 2, 3)
    assert [part.board.uuid for part in (first, second)] == [FIRST_SLICE, SECOND_SLICE]
    assert [part.board.parent for part in (first, second)] == [board.board.key] * 2
    assert first.board.total_memory == 40448 << 20
    assert board.partitions is not None
    assert [part.parent for part in board.partitions] == [board.board.key] * 2
    assert board.health is not None
    assert board.health.status is HealthStatus.DEGRADED


def test_the_extension_names_the_readers() -> None:
    assert load_extension(SPEC, "evidence_readers", tuple) is READERS
