"""A driver that hangs, fails or dies costs that call alone."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import toy_boards
from toy_boards import key

from accelhal.errors import (
    AccelhalError,
    BackendLoadError,
    DeviceError,
    DeviceLostError,
    DeviceTimeoutError,
)
from accelhal.facts import PcieLink, Telemetry
from accelhal.management import driver_client
from accelhal.management.driver_client import DriverClient, can_run_elsewhere
from accelhal.management.remote import RemoteManagement, read_all, read_each
from accelhal.spi import Management

HANG_S = 1.0


@pytest.fixture
def clients() -> Iterator[Callable[..., DriverClient]]:
    made = []

    def make(start: Callable[[], Management] = toy_boards.start, **limits: float) -> DriverClient:
        limits = {"call_limit_s": HANG_S, "start_limit_s": 60, **limits}
        made.append(DriverClient("toy", start, **limits))
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def toy(clients: Callable[..., DriverClient]) -> RemoteManagement:
    return RemoteManagement(clients())


def process_of(toy: RemoteManagement) -> int:
    return int(toy.telemetry(key("well")).utilization or 0)


def ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_answers_come_from_another_process(toy: RemoteManagement) -> None:
    assert [board.key for board in toy.boards()] == [key(name) for name in toy_boards.BOARDS]
    assert toy.telemetry(key("well")).temperature == 40.0
    assert process_of(toy) not in (0, os.getpid())


def test_a_method_the_backend_lacks_answers_as_the_interface_does(toy: RemoteManagement) -> None:
    assert "*" in toy.pcie(key("well")).reasons
    assert toy.relation(key("well"), key("other")) is None
    assert toy.versions() == {}


def test_a_call_that_hangs_costs_its_limit_once(toy: RemoteManagement) -> None:
    before = process_of(toy)
    with pytest.raises(DeviceTimeoutError, match=r"telemetry of hangs did not answer within 1 s"):
        toy.telemetry(key("hangs"))
    started = time.monotonic()
    for _ in range(20):
        with pytest.raises(DeviceTimeoutError, match="not asked again for"):
            toy.telemetry(key("hangs"))
    assert time.monotonic() - started < 10 * HANG_S, "it was asked again"
    assert process_of(toy) != before
    assert ended(before)


def test_a_call_is_asked_again_after_its_silence(
    toy: RemoteManagement, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DeviceTimeoutError):
        toy.telemetry(key("hangs"))
    before = process_of(toy)
    monkeypatch.setattr(driver_client, "SILENCE_S", 0.0)
    with pytest.raises(DeviceTimeoutError):
        toy.telemetry(key("hangs"))
    assert ended(before), "the hanging call was not asked"


def test_one_board_that_fails_leaves_the_others_of_one_exchange(toy: RemoteManagement) -> None:
    names = ["well", "hangs", "raises", "exits", "other", "killed", "lost", "hangs", "odd", "well"]
    found = read_all(toy, "telemetry", [key(name) for name in names])
    assert [type(answer) for answer in found] == [
        Telemetry,
        DeviceTimeoutError,
        DeviceError,
        DeviceError,
        Telemetry,
        DeviceError,
        DeviceLostError,
        DeviceTimeoutError,
        DeviceError,
        Telemetry,
    ]
    assert "RuntimeError: no such sensor" in str(found[2])
    assert "SystemExit: exits" in str(found[3])
    assert "ended its process (status -9)" in str(found[5])
    assert found[6].device == "toy:5"
    assert all(e.backend == "toy" for e in found if isinstance(e, AccelhalError))


def test_a_library_whose_every_call_hangs_is_left_alone(toy: RemoteManagement) -> None:
    boards = [key(name) for name in ("hangs", "hangs too", "hangs as well", "well", "other")]
    found = read_all(toy, "telemetry", boards)
    assert [type(answer) for answer in found] == [DeviceTimeoutError] * 5


def test_several_methods_are_one_exchange(
    toy: RemoteManagement, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = []
    ask_all = toy.client.ask_all
    monkeypatch.setattr(toy.client, "ask_all", lambda calls: sent.append(calls) or ask_all(calls))
    boards = [key("well"), key("raises")]
    found = read_each(toy, ("telemetry", "pcie"), boards)
    assert len(sent) == 1
    assert {name: [type(a) for a in answers] for name, answers in found.items()} == {
        "telemetry": [Telemetry, DeviceError],
        "pcie": [PcieLink, PcieLink],
    }


def test_read_all_in_process_keeps_what_each_board_raises() -> None:
    found = read_all(toy_boards.start(), "telemetry", [key("raises"), key("well")])
    assert [type(answer) for answer in found] == [RuntimeError, Telemetry]


@pytest.mark.parametrize(
    ("start", "limit_s", "reason"),
    [
        (toy_boards.start_fails, 60, "OSError: libtoy.so: cannot open shared object file"),
        (toy_boards.start_hangs, HANG_S, "did not start within 1 s"),
        (toy_boards.start_dies, 60, r"ended its process \(status 7\)"),
    ],
)
def test_a_library_that_does_not_start_says_why(
    clients: Callable[..., DriverClient],
    start: Callable[[], Management],
    limit_s: float,
    reason: str,
) -> None:
    client = clients(start, start_limit_s=limit_s)
    for _ in range(2):
        with pytest.raises(BackendLoadError, match=reason):
            client.open()
    [found] = client.ask_all([("telemetry", (key("well"),))])
    assert isinstance(found, BackendLoadError)


def test_a_stopped_process_costs_the_call_that_is_asked(toy: RemoteManagement) -> None:
    boards = [key(name) for name in ("well", "other", "well", "other", "well")]
    pid = int(read_all(toy, "telemetry", boards)[-1].utilization)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(DeviceTimeoutError):
        toy.telemetry(key("other"))
    assert ended(pid)
    assert toy.telemetry(key("well")).temperature == 40.0


def test_a_closed_client_says_so(clients: Callable[..., DriverClient]) -> None:
    client = clients()
    pid = process_of(RemoteManagement(client))
    client.close()
    assert ended(pid)
    with pytest.raises(BackendLoadError, match="was closed"):
        client.ask("boards")


def test_threads_share_one_process(toy: RemoteManagement) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: process_of(toy), range(64)))
    assert len(set(found)) == 1


def test_other_threads_go_on_after_a_hang(toy: RemoteManagement) -> None:
    toy.boards()
    hanging = threading.Thread(target=lambda: read_all(toy, "telemetry", [key("hangs")]))
    hanging.start()
    assert toy.telemetry(key("well")).temperature == 40.0
    hanging.join(10 * HANG_S)
    assert not hanging.is_alive()


def test_a_fork_asks_a_process_of_its_own(toy: RemoteManagement) -> None:
    mine = process_of(toy)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, str(process_of(toy)).encode())
            toy.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    theirs = int(os.read(read, 32))
    os.close(read)
    os.close(write)
    assert theirs not in (0, mine)
    assert process_of(toy) == mine


def test_what_another_process_can_import() -> None:
    assert can_run_elsewhere(toy_boards.start)
    assert not can_run_elsewhere(lambda: ToyLike())


class ToyLike(toy_boards.ToyManagement):
    pass
