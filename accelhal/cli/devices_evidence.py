"""`accelhal devices --from`: the boards that files show, in the form of live ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accelhal.cli.board_view import reading_document, reading_tables
from accelhal.cli.evidence_option import collect, evidence_document, title
from accelhal.cli.output import console, print_json
from accelhal.evidence.boards import readings
from accelhal.evidence.environment import ListedBackend
from accelhal.facts import ProbeStatus


def show_evidence(files: Sequence[str], as_json: bool) -> None:
    """Print what the files show.

    Raises:
        UsageError: a file cannot be read, or nothing in them is known.
    """
    found = collect(files)
    boards = readings(found.snapshot)
    environment = found.snapshot.environment
    listed = () if environment is None else environment.backends
    if as_json:
        document = {
            "evidence": evidence_document(found),
            "backends": [_backend(backend) for backend in listed],
            "devices": [device for backend in listed for device in _devices(backend)],
            "boards": [reading_document(reading) for reading in boards],
        }
        print_json("devices", document)
        return
    out = console()
    out.print(title(found))
    for table in reading_tables(boards, out) if boards else ["No accelerator board is shown."]:
        out.print()
        out.print(table)


def _backend(backend: ListedBackend) -> dict[str, Any]:
    """A backend under the keys of a live one; what a snapshot does not hold is null."""
    return {
        "name": backend.name,
        "vendor": None,
        "distribution": backend.distribution,
        "version": backend.version,
        "api_version": backend.api_version,
        "simulated": None,
        "status": backend.status.value,
        "count": backend.count,
        "reason": backend.reason,
        "hint": None,
    }


def _devices(backend: ListedBackend) -> list[dict[str, Any]]:
    count = (backend.count or 0) if backend.status is ProbeStatus.AVAILABLE else 0
    return [
        {"name": f"{backend.name}:{index}", "backend": backend.name, "index": index}
        for index in range(count)
    ]
