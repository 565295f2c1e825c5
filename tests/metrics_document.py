"""The tables of docs/metrics.md; `python tests/metrics_document.py` writes them anew."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from accelhal_ascend.dcmi_sources import SOURCES as DCMI
from accelhal_cambricon.cndev_sources import SOURCES as CNDEV
from accelhal_cuda.nvml_sources import SOURCES as NVML
from accelhal_mock.management_sources import SOURCES as SIMULATION

from accelhal.facts import (
    BoardDetails,
    BoardInfo,
    BoardKey,
    Link,
    MemoryErrors,
    Partition,
    PcieLink,
    ProcessMemory,
    Telemetry,
)
from accelhal.spi import Management

DOCUMENT = Path(__file__).parents[1] / "docs" / "metrics.md"

BACKENDS: Mapping[str, Mapping[str, str]] = {
    "cuda (NVML)": NVML,
    "npu (DCMI)": DCMI,
    "mlu (CNDev)": CNDEV,
    "mock": SIMULATION,
}

KINDS = (
    *(BoardInfo, Telemetry, BoardDetails, MemoryErrors, PcieLink, Link, ProcessMemory, Partition),
)

OUR_OWN: Mapping[type, frozenset[str]] = {
    BoardInfo: frozenset({"key", "vendor", "backend", "source", "parent", "simulated"}),
    Link: frozenset({"kind"}),
    Partition: frozenset({"key", "parent", "environment", "memory_share"}),
}
"""What accelhal gives boards and slices: names, what follows from other figures."""

OTHERS = ("HealthReport", "relation", "versions")

_BLOCK = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def figures_of(kind: type) -> list[str]:
    """Names of the figures of a class, as `Management.sources` has them."""
    own = OUR_OWN.get(kind, frozenset()) | {"reasons"}
    return [f"{kind.__name__}.{field.name}" for field in fields(kind) if field.name not in own]


def figures_named(name: str) -> list[str]:
    """Figures of no class (checks of health, versions), in the order that the plugins have them."""
    known = [figure for sources in BACKENDS.values() for figure in sources]
    return list(dict.fromkeys(f for f in known if f.partition(".")[0] == name))


def reported(management: Management) -> set[str]:
    """The figures that a management plane has for any of its boards, by name."""
    return {name for name, value in _read(management) if value is not None}


def _read(management: Management) -> Iterator[tuple[str, Any]]:
    keys = [board.key for board in management.boards() if board.key is not None]
    for board in management.boards():
        yield from _fields(board)
    for key in keys:
        yield from _of_board(management, key)
        for other in keys:
            if other != key:
                yield "relation", management.relation(key, other)
    yield from ((f"versions.{name}", text) for name, text in management.versions().items())


def _of_board(management: Management, key: BoardKey) -> Iterator[tuple[str, Any]]:
    for facts in (
        management.telemetry(key),
        management.details(key),
        management.memory_errors(key),
        management.pcie(key),
        *management.links(key),
        *management.processes(key),
        *management.partitions(key),
    ):
        yield from _fields(facts)
    for check in management.health(key).checks:
        yield f"HealthReport.{check.name}", check.value


def _fields(facts: Any) -> Iterator[tuple[str, Any]]:
    for figure in figures_of(type(facts)):
        value = getattr(facts, figure.partition(".")[2])
        yield figure, None if value == {} else value


def written(text: str) -> str:
    """The document with its tables as the plugins have them."""
    return _BLOCK.sub(lambda block: f"{block[1]}{_table(block[2])}{block[3]}", text)


def _table(name: str) -> str:
    kinds = {kind.__name__: kind for kind in KINDS}
    figures = figures_of(kinds[name]) if name in kinds else figures_named(name)
    lines = [["", *BACKENDS], ["---"] * (1 + len(BACKENDS))]
    for figure in figures:
        cells = [sources.get(figure, "-") for sources in BACKENDS.values()]
        lines.append([f"`{figure.partition('.')[2] or figure}`", *cells])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    DOCUMENT.write_text(written(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
