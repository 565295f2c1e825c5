"""Plugins that hang, ask for themselves or answer nonsense: each costs only itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fake_spec import fake_spec

import accelhal
from accelhal.device_name import DeviceName
from accelhal.errors import AccelhalError, BackendConflictError, BackendLoadError
from accelhal.facts import Probe, ProbeStatus
from accelhal.host import Host
from accelhal.registry import listing, open_backend, plugins
from accelhal.registry.limited_call import call_within
from accelhal.runtimes.cpu import CpuRuntime
from accelhal.spi import BackendSpec, Runtime

pytestmark = pytest.mark.usefixtures("fresh_registry")

SHORT_S = 0.05


class Unsayable(Exception):
    """An error that cannot be turned into text."""

    def __str__(self) -> str:
        raise ValueError("no words")


def available(host: Host) -> Probe:
    return Probe(ProbeStatus.AVAILABLE, 1, "there")


def spec(
    name: str = "toy",
    probe: Callable[[Host], Probe] = available,
    open_runtime: Callable[[], Runtime] = CpuRuntime,
) -> BackendSpec:
    return replace(fake_spec(name, open_runtime), probe=probe)


def listed(name: str = "toy") -> listing.Backend:
    return next(backend for backend in accelhal.backends() if backend.name == name)


# ---- probes


@pytest.fixture
def hanging() -> Iterator[Callable[[Host], Probe]]:
    """A probe that does not return before the test ends; it counts its calls."""
    ended = threading.Event()

    def probe(host: Host) -> Probe:
        probe.calls += 1  # type: ignore[attr-defined]
        ended.wait(60)
        return available(host)

    probe.calls = 0  # type: ignore[attr-defined]
    yield probe
    ended.set()


def test_a_probe_that_hangs_is_left_behind_and_not_called_again(
    hanging: Callable[[Host], Probe], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PLUGIN_LIMIT_S", SHORT_S)
    accelhal.register(spec(probe=hanging))
    assert listed().probe.status is ProbeStatus.LIBRARY_BROKEN
    assert "no answer within 0.05 s" in listed().probe.reason or "before" in listed().probe.reason
    assert "ACCELHAL_BACKENDS without toy leaves it out" in listed().probe.hint
    assert hanging.calls == 1  # type: ignore[attr-defined]
    assert accelhal.device("cpu").backend == "cpu"
    with pytest.raises(BackendLoadError, match="its probe raised TimeoutError"):
        accelhal.device("toy")


def test_a_name_is_opened_without_asking_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def unasked(host: Host) -> Probe:
        raise AssertionError("asked")

    accelhal.device("cpu")
    accelhal.register(spec(probe=unasked))
    accelhal.register(spec("other"))
    assert accelhal.device("other").backend == "other"


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "available",
        ProbeStatus.AVAILABLE,
        Probe("available", 1, "a string"),  # type: ignore[arg-type]
        Probe(ProbeStatus.AVAILABLE, "1", "a count"),  # type: ignore[arg-type]
        Probe(ProbeStatus.AVAILABLE, -1, "a count"),
        Probe(ProbeStatus.AVAILABLE, 1, None),  # type: ignore[arg-type]
        Probe(ProbeStatus.AVAILABLE, 1, "there", None),  # type: ignore[arg-type]
        Probe(ProbeStatus.AVAILABLE, 1, "there", "", None),  # type: ignore[arg-type]
        Probe(ProbeStatus.AVAILABLE, 1, "there", "", {"/dev": 3}),  # type: ignore[dict-item]
    ],
    ids=repr,
)
def test_an_answer_that_is_no_probe_is_a_broken_plugin(answer: Probe) -> None:
    accelhal.register(spec(probe=lambda host: answer))
    assert listed().probe.status is ProbeStatus.LIBRARY_BROKEN
    assert "no Probe" in listed().probe.reason


@pytest.mark.parametrize("error", [Unsayable(), SystemExit(3), RecursionError()])
def test_whatever_a_probe_raises_is_its_own(error: BaseException) -> None:
    def probe(host: Host) -> Probe:
        raise error

    accelhal.register(spec(probe=probe))
    assert type(error).__name__ in listed().probe.reason


# ---- loading


def test_a_plugin_that_hangs_at_import_is_left_behind(
    install_plugin: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "PLUGIN_LIMIT_S", SHORT_S)
    code = "import accelhal_slow_gate\naccelhal_slow_gate.ended.wait(60)"
    folder = install_plugin(
        "accelhal-slow",
        code=code,
        module="accelhal_slow",
        entry_points="[accelhal.backends]\nslow = accelhal_slow:SPEC\n",
    )
    (folder / "accelhal_slow_gate.py").write_text("import threading\nended = threading.Event()\n")
    monkeypatch.syspath_prepend(folder)
    import accelhal_slow_gate

    try:
        assert "TimeoutError: no answer within 0.05 s" in listed("slow").probe.reason
        assert "TimeoutError: it did not answer before" in listed("slow").probe.reason
    finally:
        accelhal_slow_gate.ended.set()


def test_one_distribution_that_claims_a_name_twice_is_told_so(
    install_plugin: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = install_plugin(
        "accelhal-twin",
        code="",
        module="accelhal_twin",
        entry_points="[accelhal.backends]\ntwin = accelhal_twin:A\ntwin = accelhal_twin:B\n",
    )
    monkeypatch.syspath_prepend(folder)
    with pytest.raises(BackendConflictError, match="claimed twice by accelhal-twin"):
        accelhal.device("twin")


@pytest.mark.parametrize("value", ["not a value!!", "accelhal_odd", "accelhal_odd:SPEC:more"])
def test_a_malformed_entry_point_says_its_form(
    install_plugin: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    entry_points = f"[accelhal.backends]\nodd = {value}\n"
    folder = install_plugin("accelhal-odd", code="", module="odd", entry_points=entry_points)
    monkeypatch.syspath_prepend(folder)
    assert "is not of the form package.module:attribute" in listed("odd").probe.reason


@pytest.mark.parametrize("spelling", ["accelhal-mock", "Accelhal_Mock", "accelhal.mock"])
def test_a_distribution_is_pinned_in_any_spelling(spelling: str) -> None:
    assert open_backend(DeviceName("mock", spelling)).distribution == "accelhal-mock"
    assert accelhal.device(f"mock@{spelling}:1").index == 1


# ---- opening


@pytest.mark.parametrize("name", [None, "toy", "toy:0"])
def test_a_runtime_that_asks_for_a_device_while_it_opens_gets_an_error(name: str | None) -> None:
    def open_runtime() -> Runtime:
        accelhal.device(name)
        return CpuRuntime()

    accelhal.register(spec(open_runtime=open_runtime))
    with pytest.raises(BackendLoadError, match=r"toy: while it was being opened, it asked for"):
        accelhal.device("toy")
    assert accelhal.device("cpu").backend == "cpu", "the registry is usable after it"


def test_a_runtime_may_use_another_backend_while_it_opens() -> None:
    def open_runtime() -> Runtime:
        assert accelhal.device("cpu").supports("autocast")
        assert [backend.name for backend in accelhal.backends()]
        return CpuRuntime()

    accelhal.register(spec(open_runtime=open_runtime))
    assert accelhal.device("toy").backend == "toy"


@pytest.mark.parametrize("made", [None, "runtime", CpuRuntime], ids=repr)
def test_what_is_no_runtime_is_refused(made: object) -> None:
    accelhal.register(spec(open_runtime=lambda: made))  # type: ignore[arg-type,return-value]
    with pytest.raises(BackendLoadError, match="not a Runtime"):
        accelhal.device("toy")


@pytest.mark.parametrize("count", [None, "2", 1.5])
def test_a_count_must_be_an_integer(count: object) -> None:
    class Counted(CpuRuntime):
        def device_count(self) -> int:
            return count  # type: ignore[return-value]

    accelhal.register(spec(open_runtime=Counted))
    with pytest.raises(BackendLoadError, match="opening failed with TypeError"):
        accelhal.device("toy")


def test_an_error_without_words_is_still_an_error() -> None:
    def open_runtime() -> Runtime:
        raise Unsayable

    accelhal.register(spec(open_runtime=open_runtime))
    with pytest.raises(AccelhalError, match="opening failed with Unsayable"):
        accelhal.device("toy")


@pytest.mark.filterwarnings("ignore::accelhal.errors.AccelhalWarning")
def test_a_backend_that_opens_after_all_is_no_longer_shown_as_broken() -> None:
    failures = [OSError("busy")]

    def open_runtime() -> Runtime:
        if failures:
            raise failures.pop()
        return CpuRuntime()

    accelhal.register(spec(open_runtime=open_runtime))
    accelhal.device()
    assert listed().probe.status is ProbeStatus.LIBRARY_BROKEN
    assert accelhal.device("toy").backend == "toy"
    assert listed().probe.status is ProbeStatus.AVAILABLE


# ---- the limited call itself


def test_results_and_errors_come_through() -> None:
    assert call_within(60, divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        call_within(60, divmod, 7, 0)


def test_without_a_thread_the_call_is_made_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_thread(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_thread)
    assert call_within(60, divmod, 7, 2) == (3, 1)
