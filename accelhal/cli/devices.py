"""`accelhal devices`: what is installed, what can be used, and what is on the bus. Torch-free."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from accelhal.cli.board_view import NOTHING, board_document, board_table, empty_table
from accelhal.cli.evidence_option import EvidenceCommand, from_option
from accelhal.cli.output import console, foreign_output, print_json
from accelhal.errors import UsageError, did_you_mean, warn
from accelhal.facts import BoardInfo, Probe, ProbeStatus
from accelhal.host import Host
from accelhal.management.boards import list_boards
from accelhal.registry import Backend, backends
from accelhal.registry.choosing import DEVICE_VARIABLE, named_device

if TYPE_CHECKING:
    from rich.table import Table

_COLOURS = {
    ProbeStatus.AVAILABLE: "green",
    ProbeStatus.LIBRARY_BROKEN: "red",
    ProbeStatus.INCOMPATIBLE: "red",
    ProbeStatus.NO_DRIVER: "yellow",
    ProbeStatus.HIDDEN_BY_ENV: "yellow",
}


@click.command(cls=EvidenceCommand)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@from_option
def devices(as_json: bool, files: tuple[str, ...]) -> None:
    """List backends, their devices, and the accelerator boards of the host.

    No device is opened: the number of devices is what each backend's probe expects. Boards are
    those that the vendors' driver libraries and the PCI bus show. A backend that cannot be used is
    listed with the reason and the next step; judging it is the doctor's work, so the exit code is
    0. An ACCELHAL_DEVICE that names no backend is warned of.

    With --from it lists the boards that files show, with what was seen of them, and looks at no
    driver.
    """
    if files:
        from accelhal.cli.devices_evidence import show_evidence

        show_evidence(files, as_json)
        return
    with foreign_output():
        known = backends()
    _check_choice(known)
    boards = list_boards(known, Host())
    if as_json:
        print_json("devices", _document(known, boards))
        return
    out = console()
    out.print(_backend_table(known))
    absent = [backend for backend in known if backend.probe.status is not ProbeStatus.AVAILABLE]
    if absent:
        out.print()
        out.print(_reason_table(absent))
    out.print()
    if boards:
        out.print(board_table(boards))
    else:
        out.print("No accelerator board: neither a driver library nor the PCI bus shows one.")


def _check_choice(known: list[Backend]) -> None:
    """Warn where ACCELHAL_DEVICE is no device name, or names a backend that is not listed."""
    try:
        name = named_device()
    except UsageError as error:
        warn(str(error))
        return
    names = [backend.name for backend in known]
    if name is not None and name.backend not in names:
        warn(
            f"{DEVICE_VARIABLE} names {name.backend!r}, and no backend has that name\n"
            f"  next: {did_you_mean(name.backend, names)}installed: {', '.join(names)}"
        )


def _device_names(backend: Backend) -> list[str]:
    usable = backend.probe.status is ProbeStatus.AVAILABLE
    return [f"{backend.name}:{i}" for i in range((backend.probe.count or 0) if usable else 0)]


def _document(known: list[Backend], boards: list[BoardInfo]) -> dict[str, Any]:
    return {
        "backends": [_backend_document(backend) for backend in known],
        "devices": [
            {"name": name, "backend": backend.name, "index": index}
            for backend in known
            for index, name in enumerate(_device_names(backend))
        ],
        "boards": [board_document(board) for board in boards],
    }


def _backend_document(backend: Backend) -> dict[str, Any]:
    probe = backend.probe
    return {
        "name": backend.name,
        "vendor": backend.vendor,
        "distribution": backend.distribution,
        "version": backend.version,
        "api_version": backend.api_version,
        "simulated": backend.spec.simulated if backend.spec else None,
        "status": probe.status.value,
        "count": probe.count,
        "reason": probe.reason,
        "hint": probe.hint,
    }


def _backend_table(known: list[Backend]) -> Table:
    from rich.text import Text

    table = empty_table("Backend", "Vendor", "Provided by", "Status", "Devices")
    for backend in known:
        status = backend.probe.status
        table.add_row(
            Text(backend.name, "bold"),
            _vendor(backend),
            " ".join(part for part in (backend.distribution, backend.version) if part),
            Text(status.value.replace("_", " "), _COLOURS.get(status, "dim")),
            _device_range(backend),
        )
    return table


def _vendor(backend: Backend) -> str:
    if backend.spec is None:
        return NOTHING
    vendor = backend.spec.vendor
    return f"{vendor} (simulated)" if backend.spec.simulated and vendor != "simulated" else vendor


def _device_range(backend: Backend) -> str:
    names = _device_names(backend)
    if backend.probe.status is ProbeStatus.AVAILABLE and backend.probe.count is None:
        return "known when opened"
    if len(names) > 2:
        return f"{names[0]} to {names[-1]}"
    return ", ".join(names) or NOTHING


def _reason_table(absent: list[Backend]) -> Table:
    """Name and reason of each absent backend, the next step below it."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for backend in absent:
        table.add_row(Text(backend.name, "bold"), _sentence(backend.probe))
        if backend.probe.hint:
            table.add_row("", Text.assemble(("next: ", "cyan"), backend.probe.hint))
    return table


def _sentence(probe: Probe) -> str:
    return probe.reason or probe.status.value.replace("_", " ")
