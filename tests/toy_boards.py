"""A driver library for the driver process: boards that answer, hang, fail or end the process."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence

from accelhal.errors import DeviceLostError
from accelhal.facts import BoardInfo, BoardKey, Telemetry
from accelhal.spi import Management

BOARDS = ("well", "hangs", "raises", "exits", "killed", "lost", "odd", "other")


def key(name: str) -> BoardKey:
    return BoardKey("toy", "uuid", name)


class ToyManagement(Management):
    """Each board behaves as it is called."""

    def boards(self) -> Sequence[BoardInfo]:
        print("drivers print")
        return [BoardInfo(key(n), "Toy Works", "Toy", "toy", "toy library") for n in BOARDS]

    def telemetry(self, board: BoardKey) -> Telemetry:
        if board.value in ("hangs", "hangs too", "hangs as well"):
            time.sleep(3600)
        if board.value == "raises":
            raise RuntimeError("no such sensor")
        if board.value == "exits":
            sys.exit("exits")
        if board.value == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if board.value == "lost":
            raise DeviceLostError("fell off the bus", device="toy:5")
        if board.value == "odd":
            return Telemetry(power=(value for value in ()))  # type: ignore[arg-type]
        return Telemetry(temperature=40.0, utilization=float(os.getpid()))


def start() -> Management:
    return ToyManagement()


def start_hangs() -> Management:
    time.sleep(3600)
    raise AssertionError("not reached")


def start_fails() -> Management:
    raise OSError("libtoy.so: cannot open shared object file")


def start_dies() -> Management:
    os._exit(7)
