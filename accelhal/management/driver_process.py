"""What runs inside a driver process: one backend's driver library, asked over a pipe.

Started by `accelhal.management.driver_client`. Imports neither torch nor a plugin's runtime.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
from importlib import import_module
from mmap import mmap
from multiprocessing.connection import Connection
from operator import attrgetter
from typing import Any

from accelhal.errors import AccelhalError, DeviceError, described
from accelhal.spi import Management

PROGRESS_BYTES = 8
"""Size of the shared memory: a place in a list of calls."""


def main() -> None:
    """Serve until the other end closes.

    The first message is (module, name) of the backend's open_management, answered by None or an
    exception. Each later one is a list of (method, arguments), answered by a list, in their order,
    of results or exceptions. Before each call its place in the list is written to the
    memory that both ends share, so that the other end knows which one hangs.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
    connection, progress = Connection(int(sys.argv[1])), mmap(int(sys.argv[2]), PROGRESS_BYTES)
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, requests), daemon=True).start()
    try:
        management = _start(*requests.get())
        connection.send(None)
    except BaseException as error:
        connection.send(_portable(error))
        return
    while True:
        answers = []
        for place, (method, arguments) in enumerate(requests.get()):
            write_progress(progress, place)
            answers.append(_answer(management, method, arguments))
        _send(connection, answers)


def read_progress(progress: mmap) -> int:
    """The place that was written last."""
    return int.from_bytes(progress[:PROGRESS_BYTES], "little")


def write_progress(progress: mmap, place: int) -> None:
    """Say that the call at this place begins."""
    progress[:PROGRESS_BYTES] = place.to_bytes(PROGRESS_BYTES, "little")


def _start(module: str, name: str) -> Management:
    management: Management = attrgetter(name)(import_module(module))()
    return management


def _receive(connection: Connection, requests: queue.SimpleQueue[Any]) -> None:
    """Collect requests, also while a driver call runs, and end with the process that asks."""
    while True:
        try:
            requests.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)  # a driver call may hang in the main thread


def _answer(management: Management, method: str, arguments: tuple[Any, ...]) -> Any:
    try:
        return getattr(management, method)(*arguments)
    except BaseException as error:  # a driver's wrapper raises what it likes, SystemExit too
        return _portable(error)


def _send(connection: Connection, answers: list[Any]) -> None:
    """Send the answers as one pickle; where that cannot be made, each that allows it."""
    try:
        pickled = pickle.dumps(answers)
    except Exception:
        pickled = pickle.dumps([_pickled(answer) for answer in answers])
    connection.send_bytes(pickled)


def _pickled(answer: Any) -> Any:
    """The answer, or why it cannot be pickled."""
    try:
        pickle.dumps(answer)
    except Exception as error:  # of the answer's own class
        return _portable(error)
    return answer


def _portable(error: BaseException) -> AccelhalError:
    """The error, where accelhal's classes suffice to read it; its description where not."""
    return error if isinstance(error, AccelhalError) else DeviceError(described(error))
