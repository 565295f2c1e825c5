"""Where the threads of lanes wait: for any work, or a little longer for a full batch."""

from __future__ import annotations

import threading


class Seat:
    """Where one lane's thread sleeps."""

    __slots__ = ("parker",)

    def __init__(self) -> None:
        self.parker = threading.Lock()
        self.parker.acquire()


class Parking:
    """The seats that are taken. Called under the dispatcher's lock.

    Attributes:
        idle: lanes that nothing waits for.
        lingering: lanes that wait for what waits to become a full batch.
    """

    __slots__ = ("idle", "lingering")

    def __init__(self) -> None:
        self.idle: list[Seat] = []
        self.lingering: list[Seat] = []

    def wake_one(self) -> None:
        """Wake a lane, an idle one before one that lingers."""
        seats = self.idle or self.lingering
        if seats:
            seats.pop().parker.release()

    def wake_all(self) -> None:
        """Wake all lanes."""
        for seats in (self.idle, self.lingering):
            for seat in seats:
                seat.parker.release()
            seats.clear()

    def stand_up(self, seat: Seat) -> None:
        """Leave a seat, although nobody said so."""
        for seats in (self.idle, self.lingering):
            if seat in seats:
                seats.remove(seat)
                return
        seat.parker.acquire()  # somebody did, just now
