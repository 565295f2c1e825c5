"""Which architecture the board with a product name has."""

from __future__ import annotations

import re

_FAMILIES = (
    ("sm_35", r"Tesla K(20|40)|GTX TITAN( Black)?$|GTX 780"),
    ("sm_37", r"Tesla K80"),
    ("sm_50", r"GTX 7(45|50)|Tesla M10\b|Quadro K\d+M?$"),
    ("sm_52", r"GTX 9\d\d|GTX TITAN X$|Tesla M(4|6|40|60)\b|Quadro M\d"),
    ("sm_60", r"P100|Quadro GP100"),
    (
        "sm_61",
        r"GTX 10\d\d|GT 10\d\d|(?<!GTX )TITAN Xp?( \(Pascal\))?$|Tesla P(4|6|40)\b|Quadro P\d",
    ),
    ("sm_70", r"V100|TITAN V\b|Quadro GV100"),
    ("sm_75", r"\bT(4|400|600|1000)\b|RTX 20\d\d|GTX 16\d\d|TITAN RTX|Quadro RTX"),
    ("sm_80", r"\bA(30|100|800)\b"),
    ("sm_86", r"RTX 30\d\d|RTX A\d{3,4}|\bA(2|10|10G|16|40)\b"),
    ("sm_89", r"RTX 40\d\d|\bL(4|20|40|40S)\b|RTX \d{4} Ada"),
    ("sm_90", r"\bG?H(20|100|200|800)\b"),
    ("sm_100", r"\bG?B200\b"),
    ("sm_103", r"\bG?B300\b"),
    ("sm_120", r"RTX 50\d\d|RTX PRO \d{4} Blackwell"),
)
"""NVIDIA's lists "CUDA GPU Compute Capability" and "Legacy CUDA GPU Compute Capability"."""

_KNOWN = tuple((arch, re.compile(pattern)) for arch, pattern in _FAMILIES)


def chip_of(name: str) -> str | None:
    """The architecture ("sm_61"); None for a name that tells of none, or of two."""
    found = {arch for arch, pattern in _KNOWN if pattern.search(name)}
    return found.pop() if len(found) == 1 else None
