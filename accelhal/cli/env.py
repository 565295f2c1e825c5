"""`accelhal env`: a report of the environment to paste into an issue, private details taken out."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

from accelhal.cli.output import foreign_output, print_json
from accelhal.evidence.environment import loaded_specs, public_words, read_environment
from accelhal.host import Host
from accelhal.host.system import host_facts
from accelhal.redaction import Redactor, private_names
from accelhal.registry import backends


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, not Markdown.")
def env(as_json: bool) -> None:
    """Print a report of host, packages, backends and boards to paste into an issue.

    User and host names, home folders, addresses, UUIDs and serials are replaced by placeholders.
    Of the vendors' variables only those that select devices are shown with their values.
    """
    with foreign_output():
        host, known = Host(), backends()
        environment = asdict(read_environment(host, known))
    for backend in environment["backends"]:
        backend["status"] = backend["status"].value
    document = {"host": asdict(host_facts(host)), **environment}
    public = public_words(loaded_specs(known))
    shared = Redactor(private_names(os.environ, public)).value(document)
    if as_json:
        print_json("env", shared)
    else:
        sys.stdout.write(_markdown(shared))


def _markdown(document: Mapping[str, Any]) -> str:
    parts = ["### accelhal environment\n"]
    for section in ("host", "versions"):
        parts.append(_table(section.capitalize(), ("", ""), list(document[section].items())))
    parts.append(
        _table(
            "Backends",
            ("backend", "provided by", "status", "reason"),
            [
                (b["name"], f"{b['distribution']} {b['version']}", b["status"], b["reason"])
                for b in document["backends"]
            ],
        )
    )
    parts.append(
        _table(
            "Boards on the PCI bus",
            ("address", "vendor", "id", "driver", "NUMA node", "backend"),
            [tuple(board.values()) for board in document["boards"]],
        )
    )
    parts.append(_table("Variables", ("name", "value"), list(document["variables"].items())))
    withheld = ", ".join(f"`{name}`" for name in document["variables_withheld"]) or "none"
    parts.append(f"Set, values withheld: {withheld}\n")
    return "\n".join(parts)


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    if not rows:
        return f"**{title}**: none\n"
    lines = [_row(columns), _row(["---"] * len(columns)), *map(_row, rows)]
    return f"**{title}**\n\n" + "\n".join(lines) + "\n"


def _row(cells: Sequence[object]) -> str:
    texts = ("-" if cell is None else str(cell) for cell in cells)
    escaped = (" ".join(text.replace("|", "\\|").split()) for text in texts)
    return "| " + " | ".join(escaped) + " |"
