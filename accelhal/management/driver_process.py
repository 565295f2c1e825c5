"""What runs inside a driver process: one backend's driver library, asked over a pipe.

Started by `accelhal.management.driver_client`. Imports neither torch nor a plugin's runtime.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from importlib import import_module
from multiprocessing.connection import Connection
from operator import attrgetter
from typing import Any

from accelhal.errors import AccelhalError, DeviceError, described
from accelhal.spi import Management


def main() -> None:
    """Serve until the other end closes.

    The first message is (module, name) of the backend's open_management. Each later one is a list
    of (method, arguments); each answer is (True, result) or (False, exception), in their order.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
    connection = Connection(int(sys.argv[1]))
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, requests), daemon=True).start()
    management = _answer(connection, _start, *requests.get())
    while isinstance(management, Management):
        for method, arguments in requests.get():
            _answer(connection, getattr(management, method), *arguments)


def _start(module: str, name: str) -> Any:
    return attrgetter(name)(import_module(module))()


def _receive(connection: Connection, requests: queue.SimpleQueue[Any]) -> None:
    """Collect requests, also while a driver call runs, and end with the process that asks."""
    while True:
        try:
            requests.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)  # a driver call may hang in the main thread


def _answer(connection: Connection, call: Any, *arguments: Any) -> Any:
    try:
        result = call(*arguments)
        connection.send((True, None if isinstance(result, Management) else result))
        return result
    except BaseException as error:  # a driver's wrapper raises what it likes, SystemExit too
        connection.send((False, _portable(error)))
        return None


def _portable(error: BaseException) -> AccelhalError:
    """The error, where accelhal's classes suffice to read it; its description where not."""
    return error if isinstance(error, AccelhalError) else DeviceError(described(error))
