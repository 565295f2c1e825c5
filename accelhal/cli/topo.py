"""`accelhal topo`: how near each two boards are, as a matrix. Torch-free."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from accelhal.cli.evidence_option import (
    EvidenceCommand,
    collect,
    evidence_document,
    from_option,
    title,
)
from accelhal.cli.output import console, foreign_output, print_json
from accelhal.facts import Relation

if TYPE_CHECKING:
    from rich.table import Table

    from accelhal.topology import Topology

_LEGEND = {
    Relation.BOARD: "chips or slices of one board",
    Relation.LINK: "a chip-to-chip link",
    Relation.PIX: "one PCIe switch",
    Relation.PXB: "several PCIe switches below one root port",
    Relation.PHB: "one PCIe host bridge",
    Relation.NODE: "one NUMA node",
    Relation.SYS: "the interconnect between CPUs",
}
_UNKNOWN = "?"


@click.command(cls=EvidenceCommand)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Also draw it.")
@from_option
def topo(as_json: bool, plot: Path | None, files: tuple[str, ...]) -> None:
    """Show how near the boards of this host are to one another and to the CPUs.

    The drivers' word goes first, the PCI bus after it; what neither knows is shown as "?". It lists
    and does not judge: the exit code is 0. With --from the boards are those that files show.
    """
    if plot is not None:
        from accelhal.plot_file import check_plot_file

        check_plot_file(plot)
    heading, evidence, found = _found(files)
    if plot is not None:
        from accelhal.topology.plot import draw

        draw(found, plot, heading)
    if as_json:
        print_json("topo", {**evidence, **_document(found)})
        return
    out = console()
    if heading:
        out.print(heading)
        out.print()
    if not found.boards and files:
        out.print("No accelerator board is shown.")
        return
    if not found.boards:
        out.print("No accelerator board: neither a driver library nor the PCI bus shows one.")
        return
    out.print(_matrix(found))
    out.print()
    shown = set(found.relations.values())
    for relation, text in _LEGEND.items():
        if relation in shown:
            out.print(f"{_name(relation):<5} {text}")
    if found.unknown:
        out.print(f"{_UNKNOWN:<5} {found.unknown}")


def _found(files: tuple[str, ...]) -> tuple[str, dict[str, Any], Topology]:
    """What to say of the boards' source, the same for programs, and the boards."""
    if files:
        from accelhal.evidence.boards import topology

        collected = collect(files)
        return (
            title(collected),
            {"evidence": evidence_document(collected)},
            topology(collected.snapshot),
        )
    from accelhal.topology import discover

    with foreign_output():
        return "", {}, discover()


def _document(found: Topology) -> dict[str, Any]:
    return {
        "boards": [
            {
                "address": board.pci,
                "backend": board.backend,
                "name": board.name,
                "uuid": board.uuid,
                "numa_node": board.numa_node,
            }
            for board in found.boards
        ],
        "matrix": [[relation and relation.value for relation in row] for row in found.matrix()],
        "unknown": found.unknown,
    }


def _matrix(found: Topology) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    labels = [str(place) for place in range(len(found.boards))]
    for column in ("Board", *labels, "NUMA", "Address", "Device"):
        table.add_column(column, overflow="fold")
    for place, (board, row) in enumerate(zip(found.boards, found.matrix(), strict=True)):
        relations = ["X" if other == place else _name(near) for other, near in enumerate(row)]
        node = _UNKNOWN if board.numa_node is None else str(board.numa_node)
        table.add_row(str(place), *relations, node, board.pci or _UNKNOWN, board.name or _UNKNOWN)
    return table


def _name(relation: Relation | None) -> str:
    return _UNKNOWN if relation is None else relation.value.upper()
