"""A topology drawn into a file: boards on a circle by NUMA node, lines by nearness.

Needs the extra `plot`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from accelhal.errors import UsageError
from accelhal.facts import BoardInfo, Relation
from accelhal.topology.neighbourhood import Topology


@dataclass(frozen=True)
class _Line:
    colour: str
    width: float
    style: Literal["-", ":"] = "-"


_LINES: Mapping[Relation, _Line] = {
    Relation.BOARD: _Line("#7b3294", 6.0),
    Relation.LINK: _Line("#1b7837", 4.0),
    Relation.PIX: _Line("#2166ac", 3.0),
    Relation.PXB: _Line("#4393c3", 2.2),
    Relation.PHB: _Line("#e08214", 1.6),
    Relation.NODE: _Line("#8c8c8c", 1.2),
    Relation.SYS: _Line("#a8a8a8", 1.0, ":"),
}
"""Nearer boards have the stronger line; colours that colour-blind readers tell apart."""

_MODELS = 3
"""Names of board models that the title takes."""

_GAP = 0.6
"""Between NUMA nodes, in distances between neighbours."""

_RADIUS = 1.0
_LABEL_RADIUS = 1.32
_NODE_RADIUS = 1.72
_BAND = (0.84, 1.16)
_EDGE = 1.95


def draw(topology: Topology, path: Path, heading: str = "") -> None:
    """Write the plot.

    Args:
        topology: the boards.
        path: the file; its ending says the format.
        heading: where the boards were seen, below the title.

    Raises:
        UsageError: there is no board.
        OSError: the file cannot be written.
    """
    if not topology.boards:
        raise UsageError("there is no board, so there is nothing to plot", operation="plot")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 8), layout="constrained")
    axes = figure.subplots()
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_xlim(-_EDGE, _EDGE)
    axes.set_ylim(-_EDGE, _EDGE)
    angles = _angles(topology.boards)
    _draw_nodes(axes, topology.boards, angles)
    _draw_lines(axes, topology, angles)
    _draw_boards(axes, topology.boards, angles)
    names = list(dict.fromkeys(board.name for board in topology.boards if board.name))
    more = f" and {len(names) - _MODELS} more" if len(names) > _MODELS else ""
    figure.suptitle(f"{len(topology.boards)} boards: {', '.join(names[:_MODELS])}{more}")
    axes.set_title("\n".join(filter(None, (heading, topology.unknown))), fontsize=8)
    figure.savefig(path)


def _angles(boards: Sequence[BoardInfo]) -> dict[int, float]:
    """Place of each board -> its angle; boards of one NUMA node stand side by side."""
    groups = _by_node(boards)
    gaps = len(groups) if len(groups) > 1 else 0
    step = 2 * math.pi / (len(boards) + gaps * _GAP)
    angles, angle = {}, math.pi / 2
    for _, places in groups:
        for place in places:
            angles[place] = angle
            angle -= step
        angle -= step * _GAP
    return angles


def _by_node(boards: Sequence[BoardInfo]) -> list[tuple[int | None, list[int]]]:
    def node(place: int) -> int:
        found = boards[place].numa_node
        return -1 if found is None else found

    grouped = groupby(sorted(range(len(boards)), key=node), node)
    return [(None if found < 0 else found, list(places)) for found, places in grouped]


def _draw_nodes(axes: Any, boards: Sequence[BoardInfo], angles: Mapping[int, float]) -> None:
    """A band behind the boards of each NUMA node."""
    from matplotlib.patches import Wedge

    step = math.degrees(2 * math.pi / (len(boards) + 1)) / 2
    inner, outer = _BAND
    for node, places in _by_node(boards):
        if node is None:
            continue
        first, last = (math.degrees(angles[place]) for place in (places[0], places[-1]))
        margin = min(step * 0.9, 14.0)
        axes.add_patch(
            Wedge(
                (0, 0), outer, last - margin, first + margin, width=outer - inner, color="#eef2f6"
            )
        )
        axes.text(*_at((first + last) / 2, _NODE_RADIUS), f"NUMA {node}", ha="center", va="center")


def _draw_lines(axes: Any, topology: Topology, angles: Mapping[int, float]) -> None:
    """A line for each pair, far ones first, and a legend of those that occur."""
    from matplotlib.lines import Line2D

    order = list(_LINES)
    known = [
        (relation, pair) for pair, relation in topology.relations.items() if relation is not None
    ]
    for relation, pair in sorted(known, key=lambda found: -order.index(found[0])):
        ends = [_at(math.degrees(angles[place]), _RADIUS) for place in pair]
        line = _LINES[relation]
        axes.plot(
            *zip(*ends, strict=True),
            color=line.colour,
            linewidth=line.width,
            linestyle=line.style,
            zorder=2,
        )
    shown = {relation for relation, _ in known}
    handles = [
        Line2D(
            [],
            [],
            color=_LINES[relation].colour,
            linewidth=_LINES[relation].width,
            linestyle=_LINES[relation].style,
            label=relation.value.upper(),
        )
        for relation in order
        if relation in shown
    ]
    if handles:
        axes.legend(handles=handles, loc="lower center", ncols=len(handles), frameon=False)


def _draw_boards(axes: Any, boards: Sequence[BoardInfo], angles: Mapping[int, float]) -> None:
    size = 26 if len(boards) <= 16 else 26 * 16 / len(boards)
    for place, board in enumerate(boards):
        angle = math.degrees(angles[place])
        x, y = _at(angle, _RADIUS)
        axes.plot(x, y, "o", markersize=size, color="white", markeredgecolor="#333333", zorder=3)
        axes.text(x, y, str(place), ha="center", va="center", zorder=4, fontsize=size * 0.45)
        label = board.pci or board.backend or ""
        axes.text(*_at(angle, _LABEL_RADIUS), label, ha="center", va="center", fontsize=8)


def _at(degrees: float, radius: float) -> tuple[float, float]:
    angle = math.radians(degrees)
    return radius * math.cos(angle), radius * math.sin(angle)
