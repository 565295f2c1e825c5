"""Which boards are under a backend's devices, told by one process: with torch and without it."""

from __future__ import annotations

import json
import pickle
from typing import Any

MARK = "board-report:"

CODE = "from vendor_stacks.board_report import main; main({backend!r}, {received!r})"
"""The program of the process; `received` is a pickled device in hexadecimal, or empty."""


def main(backend: str, received: str) -> None:
    """Print one line of JSON after MARK.

    It holds `boards` (of each device, in torch's order), `refusal` (why there is none), `reasons`,
    `without_torch` (the same boards, told before torch is imported), `pickled` (each device), and
    `bound` (the name here of a received device, or why it has none).
    """
    from accelhal.device_name import DeviceName
    from accelhal.management.finding import board_under
    from accelhal.registry import find_spec

    spec = find_spec(DeviceName(backend))
    without = [board_under(spec, index) for index in range(3)]

    import accelhal

    try:
        devices = accelhal.devices(backend)
        refusal = ""
    except accelhal.AccelhalError as error:
        devices, refusal = [], str(error)
    found = [device.find_board() for device in devices]
    report = {
        "boards": [_name(one.board) for one in found],
        "refusal": refusal,
        "reasons": [one.reason for one in found],
        "without_torch": [_name(one.board) for one in without],
        "pickled": [pickle.dumps(device).hex() for device in devices],
        "bound": _bound(received) if received else None,
    }
    print(f"\n{MARK}{json.dumps(report)}", flush=True)


def read_report(output: str) -> dict[str, Any]:
    """The report in a process's standard output."""
    line = next(line for line in output.splitlines() if line.startswith(MARK))
    report: dict[str, Any] = json.loads(line.removeprefix(MARK))
    return report


def _name(board: Any) -> int | str | None:
    """The driver's number of a whole board, the UUID of a slice."""
    return None if board is None else board.uuid if board.index is None else board.index


def _bound(received: str) -> str:
    import accelhal

    try:
        return str(pickle.loads(bytes.fromhex(received)))
    except accelhal.AccelhalError as error:
        return f"{type(error).__name__}: {error}"
