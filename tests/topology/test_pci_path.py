"""The bridges between two functions, and failing these their NUMA nodes, say how near they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from topology.pci_tree import pci_host

from accelhal.facts import Relation
from accelhal.topology.pci_path import pci_relation

SWITCH_A = "pci0000:3a/0000:3a:00.0/0000:3b:00.0"
SWITCH_B = "pci0000:3a/0000:3a:02.0/0000:40:00.0"
SECOND_TIER = f"{SWITCH_A}/0000:3c:02.0/0000:3f:00.0"
FUNCTIONS = {
    "0000:3d:00.0": (f"{SWITCH_A}/0000:3c:00.0", 0),
    "0000:3e:00.0": (f"{SWITCH_A}/0000:3c:01.0", 0),
    "0000:42:00.0": (f"{SWITCH_B}/0000:41:00.0", 0),
    "0000:50:00.0": (f"{SECOND_TIER}/0000:4f:00.0", 0),
    "0000:60:00.0": ("pci0000:5f/0000:5f:00.0", 0),
    "0000:ab:00.0": ("pci0000:aa/0000:aa:00.0", 1),
    "10000:01:00.0": ("pci10000:00/10000:00:00.0", 1),
    "0000:f1:00.0": ("pci0000:f0/0000:f0:00.0", -1),
    "0000:f2:00.0": ("pci0000:f0/0000:f0:01.0", -1),
}


@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        ("0000:3d:00.0", "0000:3e:00.0", Relation.PIX),
        ("0000:3d:00.0", "0000:50:00.0", Relation.PXB),
        ("0000:3d:00.0", "0000:42:00.0", Relation.PHB),
        ("0000:3d:00.0", "0000:60:00.0", Relation.NODE),
        ("0000:3d:00.0", "0000:ab:00.0", Relation.SYS),
        ("10000:01:00.0", "0000:ab:00.0", Relation.NODE),
        ("0000:f1:00.0", "0000:f2:00.0", Relation.PHB),
        ("0000:f1:00.0", "0000:3d:00.0", None),
        ("0000:3d:00.0", "0000:99:00.0", None),
    ],
)
def test_how_near(tmp_path: Path, one: str, other: str, relation: Relation | None) -> None:
    host = pci_host(tmp_path, FUNCTIONS)
    assert pci_relation(host, one, other) is relation
    assert pci_relation(host, other, one) is relation
