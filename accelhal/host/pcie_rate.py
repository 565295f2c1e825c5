"""What a PCI Express link carries, by its generation and width."""

from __future__ import annotations


def pcie_rate(generation: int, lanes: int) -> float:
    """Bytes a second in one direction.

    Raw line rate of the PCIe base specification, less its line code: 8b/10b up to generation 2
    (2.5 and 5 GT/s), 128b/130b from 3 on (8 GT/s, doubling with each generation).
    """
    if generation <= 2:
        per_lane = 2.5e9 * 2.0 ** (generation - 1) * 8 / 10 / 8
    else:
        per_lane = 8e9 * 2.0 ** (generation - 3) * 128 / 130 / 8
    return per_lane * lanes
