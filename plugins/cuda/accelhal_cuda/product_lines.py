"""Which of NVIDIA's product lines a board is of, by its name: some features are not in all."""

from __future__ import annotations

import re

_CONSUMER = re.compile(r"GeForce|GTX|TITAN", re.IGNORECASE)
_WORKSTATION = re.compile(r"Quadro|RTX|NVS", re.IGNORECASE)
_DATA_CENTRE = re.compile(
    r"\b(?:A(?:2|10|16|30|40|100|800)[GMX]?|H(?:20|100|200|800)|B(?:100|200|300)|L(?:2|4|20|40)S?"
    r"|T4|P(?:4|6|40|100)|V100S?|K80|M(?:4|6|10|40|60)|GH200|GB[23]00)\b"
)


def is_consumer(name: str) -> bool:
    """GeForce and TITAN: no forward compatibility (CUDA Compatibility guide)."""
    return _CONSUMER.search(name) is not None


def is_data_centre(name: str) -> bool:
    """A board known to be made for servers; False for one that is not known."""
    other = _CONSUMER.search(name) or _WORKSTATION.search(name)
    return other is None and _DATA_CENTRE.search(name) is not None
