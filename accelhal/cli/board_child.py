"""The program of a child process: open a device with torch, and write down which board it is on."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

from accelhal.errors import AccelhalError, BackendLoadError, described
from accelhal.facade import device
from accelhal.management.finding import FoundBoard
from accelhal.management.planes import end_driver_processes


def main() -> None:
    """Arguments: name of the device, file for the pickled FoundBoard or AccelhalError."""
    name, answer = sys.argv[1:]
    told: FoundBoard | AccelhalError
    try:
        told = device(name).find_board()
    except AccelhalError as error:
        told = error
    except BaseException as error:  # vendor packages raise SystemExit too
        told = BackendLoadError(f"opening {name} raised {described(error)}", operation="open")
    Path(answer).write_bytes(pickle.dumps(told))
    end_driver_processes()
    os._exit(0)  # vendor clean-up at exit may hang, and is not what was asked
