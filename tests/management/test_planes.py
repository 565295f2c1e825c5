"""Driver libraries that fail, hang or answer nonsense: the boards of the others are still told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from fake_spec import fake_spec

import accelhal
from accelhal.errors import BackendLoadError, UnsupportedError
from accelhal.facts import BoardInfo, BoardKey
from accelhal.management import planes
from accelhal.management.planes import open_management
from accelhal.spi import BackendSpec, Management

pytestmark = pytest.mark.usefixtures("fresh_registry")


class Boards(Management):
    """A driver library with these boards, or one that fails."""

    def __init__(self, found: object) -> None:
        self.found = found

    def boards(self) -> Sequence[BoardInfo]:
        if isinstance(self.found, BaseException):
            raise self.found
        return self.found  # type: ignore[return-value]


def board(backend: str) -> BoardInfo:
    return BoardInfo(BoardKey(backend, "uuid", backend), "Toy Works", "Toy", backend, "toy library")


def spec(name: str, start: Callable[[], Management] | None) -> BackendSpec:
    return fake_spec(name, open_management=start)


def toys() -> list[BoardInfo]:
    return [found for found in accelhal.boards() if found.source == "toy library"]


@pytest.mark.parametrize(
    "found", [RuntimeError("driver gone"), OSError("busy"), None, 5, ["a board"], [None]], ids=repr
)
def test_a_library_that_fails_hides_no_other(found: object) -> None:
    accelhal.register(spec("broken", lambda: Boards(found)))
    accelhal.register(spec("whole", lambda: Boards([board("whole")])))
    assert toys() == [board("whole")]


def test_a_library_is_started_once() -> None:
    started: list[Management] = []

    def start() -> Management:
        started.append(Boards([]))
        return started[-1]

    toy = spec("toy", start)
    assert open_management(toy) is open_management(toy) is started[0]
    assert len(started) == 1


def test_a_backend_without_one_says_so() -> None:
    with pytest.raises(UnsupportedError, match="no management plane"):
        open_management(spec("toy", None))


@pytest.mark.parametrize("made", [None, "library", Boards])
def test_what_is_no_management_is_refused(made: object) -> None:
    toy = spec("toy", lambda: made)  # type: ignore[arg-type,return-value]
    with pytest.raises(BackendLoadError, match="open_management returned a"):
        open_management(toy)


def test_a_library_that_lists_boards_while_it_starts_is_not_its_own_cause() -> None:
    def start() -> Management:
        assert toys() == []
        return Boards([board("toy")])

    accelhal.register(spec("toy", start))
    assert toys() == [board("toy")]


def test_waiting_for_a_library_that_another_thread_starts_has_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(planes, "OPEN_LIMIT_S", 0.05)
    starting, done = threading.Event(), threading.Event()

    def start() -> Management:
        starting.set()
        done.wait(60)
        return Boards([])

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(open_management, spec("slow", start))
        assert starting.wait(60)
        with pytest.raises(BackendLoadError, match="another thread is at it"):
            open_management(spec("other", lambda: Boards([])))
        done.set()
        slow.result(60)
