"""The registry under threads, forks and registrations in any order."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from fake_spec import fake_spec

import accelhal
from accelhal.errors import BackendLoadError
from accelhal.registry import state as registry_state
from accelhal.registry.state import alone, state
from accelhal.runtimes.cpu import CpuRuntime
from accelhal.spi import BackendSpec, Runtime

pytestmark = pytest.mark.usefixtures("fresh_registry")

THREADS = 8


def spec(
    name: str = "toy", vendor: str = "Toy Works", open_runtime: Callable[[], Runtime] = CpuRuntime
) -> BackendSpec:
    return fake_spec(name, open_runtime, vendor=vendor)


def test_threads_that_ask_at_once_share_one_runtime() -> None:
    opened: list[Runtime] = []
    together = threading.Barrier(THREADS)

    def open_runtime() -> Runtime:
        opened.append(CpuRuntime())
        return opened[-1]

    accelhal.register(spec(open_runtime=open_runtime))

    def ask(number: int) -> accelhal.Device:
        together.wait(60)
        return accelhal.device(("toy", "toy:0", None)[number % 3])

    with ThreadPoolExecutor(THREADS) as pool:
        devices = list(pool.map(ask, range(THREADS)))
    assert len(opened) == 1
    assert set(devices) == {accelhal.device("toy:0")}


def test_backends_are_listed_while_others_come_and_go() -> None:
    def register_and_list(number: int) -> bool:
        for turn in range(10):
            with accelhal.register(spec(f"toy{number}_{turn}")):
                names = [backend.name for backend in accelhal.backends()]
                assert f"toy{number}_{turn}" in names
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(register_and_list, range(4)))
    assert state.registrations == []


def test_registrations_end_in_any_order() -> None:
    def vendor() -> str | None:
        return {backend.name: backend.vendor for backend in accelhal.backends()}.get("toy")

    first = accelhal.register(spec(vendor="first"))
    second = accelhal.register(spec(vendor="second"), override=True)
    third = accelhal.register(spec(vendor="third"), override=True)
    second.close()
    assert vendor() == "third"
    first.close()
    assert vendor() == "third"
    third.close()
    assert vendor() is None, "what was taken back does not return"


def test_taking_back_one_that_another_covers_leaves_the_other_open() -> None:
    first = accelhal.register(spec(vendor="first"))
    accelhal.register(spec(vendor="second"), override=True)
    device = accelhal.device("toy")
    first.close()
    assert accelhal.device("toy") == device


def test_waiting_for_a_thread_that_opens_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_state, "OPEN_LIMIT_S", 0.05)
    opening, done = threading.Event(), threading.Event()

    def open_runtime() -> Runtime:
        opening.set()
        done.wait(60)
        return CpuRuntime()

    accelhal.register(spec(open_runtime=open_runtime))
    accelhal.register(spec("other"))
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(accelhal.device, "toy")
        assert opening.wait(60)
        with pytest.raises(BackendLoadError, match="another thread has been opening toy for"):
            accelhal.device("other")
        done.set()
        assert slow.result(60).backend == "toy"
    assert accelhal.device("other").backend == "other"


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_its_parents_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry_state, "OPEN_LIMIT_S", 20.0)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with alone():
            state.opening.append("toy")
            held.set()
            done.wait(60)
            state.opening.remove("toy")

    accelhal.device("cpu")
    accelhal.register(spec())
    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(60)
    child = os.fork()
    if child == 0:
        failed = True
        try:
            failed = accelhal.device("toy").backend != "toy"
        finally:
            os._exit(failed)
    done.set()
    thread.join(60)
    assert os.waitpid(child, 0)[1] == 0
