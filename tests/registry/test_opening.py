"""Choosing and opening a backend: explicit names, automatic choice, and every way to fail."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from fake_spec import fake_spec

import accelhal
from accelhal.errors import (
    AccelhalError,
    AccelhalWarning,
    BackendConflictError,
    BackendIncompatibleError,
    BackendLoadError,
    BackendNotFoundError,
    DeviceNotFoundError,
    UsageError,
)
from accelhal.facts import Probe, ProbeStatus
from accelhal.host import Host
from accelhal.runtimes.cpu import CpuRuntime
from accelhal.spi import API_VERSION, BackendSpec, Runtime

pytestmark = pytest.mark.usefixtures("fresh_registry")


class CountedRuntime(CpuRuntime):
    """The processor, shown as `count` devices."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count
        self.current = 0

    def device_count(self) -> int:
        return self.count

    def current_device(self) -> int:
        return self.current

    def set_device(self, index: int) -> None:
        self.current = index


def spec(
    name: str = "fake",
    *,
    count: int = 2,
    open_runtime: Callable[[], Runtime] | None = None,
    **fields: Any,
) -> BackendSpec:
    return fake_spec(name, open_runtime or (lambda: CountedRuntime(count)), count=count, **fields)


def raising(error: BaseException) -> Callable[[], Runtime]:
    def open_runtime() -> Runtime:
        raise error

    return open_runtime


# ---- explicit choice


def test_a_name_without_an_index_is_the_current_device() -> None:
    accelhal.register(spec())
    assert accelhal.device("fake").index == 0
    with accelhal.device("fake:1"):
        assert accelhal.device("fake").index == 1
    assert accelhal.device("fake").index == 0


def test_a_torch_device_names_a_device_too() -> None:
    assert accelhal.device(torch.device("cpu")) == accelhal.device("cpu:0")
    assert accelhal.device(accelhal.device("cpu")) == accelhal.device("cpu")


@pytest.mark.parametrize("name", ["", "cpu:", "cpu:-1", "cpu:x", "CPU", "a b", ":0", "cpu@:0"])
def test_a_malformed_name_says_how_to_write_it(name: str) -> None:
    with pytest.raises(UsageError, match=r"is not a device name\n  next: .*npu@distribution:0"):
        accelhal.device(name)


@pytest.mark.parametrize("name", [0, True, 1.5, b"cpu", object()])
def test_an_index_alone_names_no_backend(name: object) -> None:
    with pytest.raises(UsageError, match="not a device name"):
        accelhal.device(name)  # type: ignore[arg-type]


def test_an_index_out_of_range_says_how_many_there_are() -> None:
    accelhal.register(spec(count=2))
    with pytest.raises(DeviceNotFoundError, match="fake:2 does not exist: fake has 2 devices"):
        accelhal.device("fake:2")
    with pytest.raises(IndexError):
        accelhal.device("cpu:1")


def test_an_unknown_backend_lists_the_installed_ones() -> None:
    with pytest.raises(
        BackendNotFoundError, match=r"no backend is named 'cpux'\n  next: did you mean 'cpu'"
    ):
        accelhal.device("cpux:0")


def test_a_vendor_name_leads_to_its_backend() -> None:
    accelhal.register(spec())
    with pytest.raises(BackendNotFoundError, match="did you mean 'fake'"):
        accelhal.device("works")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (ProbeStatus.NOT_INSTALLED, BackendLoadError),
        (ProbeStatus.LIBRARY_BROKEN, BackendLoadError),
        (ProbeStatus.INCOMPATIBLE, BackendIncompatibleError),
        (ProbeStatus.HIDDEN_BY_ENV, DeviceNotFoundError),
        (ProbeStatus.DISABLED, BackendNotFoundError),
    ],
)
def test_a_refusing_probe_is_not_opened(status: ProbeStatus, error: type[AccelhalError]) -> None:
    opened: list[str] = []

    def open_runtime() -> Runtime:
        opened.append("yes")
        return CountedRuntime(1)

    accelhal.register(spec(status=status, open_runtime=open_runtime))
    with pytest.raises(error, match=f"fake is {status.value}\n  next: plug it in"):
        accelhal.device("fake:0")
    assert opened == []


@pytest.mark.parametrize("status", [ProbeStatus.NO_HARDWARE, ProbeStatus.NO_DRIVER])
def test_a_doubting_probe_is_opened_all_the_same(status: ProbeStatus) -> None:
    accelhal.register(spec(status=status))
    assert accelhal.device("fake:1").index == 1


def test_a_doubting_probe_explains_an_open_that_counts_nothing() -> None:
    accelhal.register(spec(status=ProbeStatus.NO_DRIVER, open_runtime=lambda: CountedRuntime(0)))
    with pytest.raises(DeviceNotFoundError, match="fake is no_driver\n  next: plug it in"):
        accelhal.device("fake")


@pytest.mark.parametrize(
    "error", [OSError("libfake.so"), AssertionError("bad"), SystemExit(3), RuntimeError("x")]
)
def test_an_open_that_raises_anything_becomes_one_error_with_the_cause(
    error: BaseException,
) -> None:
    accelhal.register(spec(open_runtime=raising(error)))
    with pytest.raises(BackendLoadError, match=type(error).__name__) as caught:
        accelhal.device("fake")
    assert caught.value.__cause__ is error


def test_ctrl_c_passes_through() -> None:
    accelhal.register(spec(open_runtime=raising(KeyboardInterrupt())))
    with pytest.raises(KeyboardInterrupt):
        accelhal.device("fake")


# ---- the environment


def test_accelhal_device_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    accelhal.register(spec())
    monkeypatch.setenv("ACCELHAL_DEVICE", "fake:1")
    assert str(accelhal.device()) == "fake:1"
    monkeypatch.setenv("ACCELHAL_DEVICE", "cpu")
    assert str(accelhal.device()) == "cpu:0"


def test_a_malformed_accelhal_device_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCELHAL_DEVICE", "fake:one")
    with pytest.raises(UsageError, match="ACCELHAL_DEVICE='fake:one' is not a device name"):
        accelhal.device()


def test_accelhal_backends_limits_what_is_considered(monkeypatch: pytest.MonkeyPatch) -> None:
    accelhal.register(spec())
    monkeypatch.setenv("ACCELHAL_BACKENDS", "cpu")
    assert accelhal.device().backend == "cpu"
    with pytest.raises(BackendNotFoundError, match="ACCELHAL_BACKENDS does not name it"):
        accelhal.device("fake")
    assert {b.name: b.probe.status for b in accelhal.backends()}["fake"] is ProbeStatus.DISABLED


def test_a_limit_that_names_nothing_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCELHAL_BACKENDS", "abacus")
    with pytest.raises(BackendNotFoundError, match="names abacus, not installed"):
        accelhal.device()


# ---- automatic choice


def test_the_highest_priority_that_is_available_wins() -> None:
    accelhal.register(spec("low", priority=10))
    accelhal.register(spec("high", priority=40))
    accelhal.register(spec("absent", priority=90, status=ProbeStatus.NO_HARDWARE))
    assert accelhal.device().backend == "high"
    assert [device.index for device in accelhal.devices()] == [0, 1]


def test_a_simulated_backend_is_never_chosen_silently() -> None:
    accelhal.register(spec("pretend", priority=90, simulated=True))
    with pytest.warns(AccelhalWarning, match="using cpu"):
        assert accelhal.device().backend == "cpu"
    assert accelhal.device("pretend").simulated


def test_falling_back_to_cpu_warns_once_with_every_reason() -> None:
    accelhal.register(spec("one", status=ProbeStatus.NO_HARDWARE))
    accelhal.register(spec("two", status=ProbeStatus.NOT_INSTALLED))
    with pytest.warns(AccelhalWarning) as caught:
        accelhal.device()
    (warning,) = [w for w in caught if issubclass(w.category, AccelhalWarning)]
    assert "one: one is no_hardware" in str(warning.message)
    assert "two: two is not_installed" in str(warning.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        accelhal.device()


def test_one_that_looked_available_but_fails_is_downgraded_and_passed_over() -> None:
    accelhal.register(spec("liar", priority=90, open_runtime=raising(OSError("libliar.so"))))
    accelhal.register(spec("empty", priority=80, open_runtime=lambda: CountedRuntime(0)))
    accelhal.register(spec("honest", priority=70))
    with pytest.warns(AccelhalWarning, match="liar looked available but did not open"):
        assert accelhal.device().backend == "honest"
    probes = {backend.name: backend.probe for backend in accelhal.backends()}
    assert probes["liar"].status is ProbeStatus.LIBRARY_BROKEN
    assert "libliar.so" in probes["liar"].reason
    assert probes["empty"].status is ProbeStatus.NO_HARDWARE


def test_a_probe_that_raises_costs_only_itself() -> None:
    def explode(host: Host) -> Probe:
        raise SystemExit("probe gone wrong")

    accelhal.register(replace(spec("bad", priority=90), probe=explode))
    accelhal.register(spec("good"))
    assert accelhal.device().backend == "good"
    bad = next(backend for backend in accelhal.backends() if backend.name == "bad")
    assert bad.probe.status is ProbeStatus.LIBRARY_BROKEN
    assert "SystemExit: probe gone wrong" in bad.probe.reason


# ---- registration


def test_registration_is_taken_back_on_leaving() -> None:
    with accelhal.register(spec()):
        assert accelhal.device("fake").backend == "fake"
    with pytest.raises(BackendNotFoundError):
        accelhal.device("fake")


def test_registering_twice_conflicts_unless_overridden() -> None:
    accelhal.register(spec())
    with pytest.raises(BackendConflictError, match=r"register\(\) already"):
        accelhal.register(spec())
    other = spec(count=5)
    with accelhal.register(other, override=True):
        assert len(accelhal.devices("fake")) == 5
    assert len(accelhal.devices("fake")) == 2


def test_a_backend_in_use_cannot_be_replaced() -> None:
    accelhal.register(spec())
    accelhal.device("fake")
    with pytest.raises(BackendConflictError, match="in use"):
        accelhal.register(spec(), override=True)


@pytest.mark.parametrize("version", [(0, 9), (2, 0)])
def test_another_major_version_is_refused(version: tuple[int, int]) -> None:
    with pytest.raises(BackendIncompatibleError, match="was written for interface"):
        accelhal.register(replace(spec(), api_version=version))


def test_a_newer_minor_version_is_taken() -> None:
    accelhal.register(replace(spec(), api_version=(API_VERSION[0], 99)))
    assert accelhal.device("fake").backend == "fake"


def test_two_owners_of_torchs_private_place_cannot_share_a_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Another test of this process may have put simulated boards there.
    monkeypatch.setattr(torch._C, "_get_privateuse1_backend_name", lambda: "privateuseone")
    accelhal.register(spec("first", needs_privateuse1=True))
    accelhal.register(spec("second", needs_privateuse1=True))
    accelhal.device("first")
    with pytest.raises(BackendIncompatibleError, match="second and first cannot share a process"):
        accelhal.device("second")


# ---- installed plugins

PLUGIN = """
from accelhal.facts import Probe, ProbeStatus
from accelhal.spi import BackendSpec

def open_runtime():
    from accelhal.runtimes.cpu import CpuRuntime
    return CpuRuntime()

SPEC = BackendSpec(name="npx", vendor="X", api_version=(1, 0), priority=1,
                   probe=lambda host: Probe(ProbeStatus.AVAILABLE, 1, "there"),
                   open_runtime=open_runtime)
"""


def entry(module: str, name: str = "npx", attribute: str = "SPEC") -> str:
    return f"[accelhal.backends]\n{name} = {module}:{attribute}\n"


@pytest.fixture
def with_plugins(
    install_plugin: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> Callable[[Mapping[str, str]], None]:
    def install(plugins: Mapping[str, str]) -> None:
        for distribution, code in plugins.items():
            module = distribution.replace("-", "_")
            folder = install_plugin(
                distribution, code=code, entry_points=entry(module), module=module
            )
            monkeypatch.syspath_prepend(str(folder))

    return install


def test_two_distributions_of_one_name_conflict_until_pinned(
    with_plugins: Callable[[Mapping[str, str]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_plugins({"rival-b": PLUGIN, "rival-a": PLUGIN})
    monkeypatch.setenv("ACCELHAL_BACKENDS", "npx,cpu")
    with pytest.raises(BackendConflictError, match=r"rival-a 1.0 and rival-b 1.0"):
        accelhal.device("npx:0")
    listed = [backend for backend in accelhal.backends() if backend.name == "npx"]
    assert [backend.distribution for backend in listed] == ["rival-a, rival-b"]
    monkeypatch.setenv("ACCELHAL_DEVICE", "npx@rival-b:0")
    assert str(accelhal.device()) == "npx:0"
    with pytest.raises(BackendConflictError, match="already in use from rival-b"):
        accelhal.device("npx@rival-a:0")


def test_a_pinned_distribution_that_is_not_there(
    with_plugins: Callable[[Mapping[str, str]], None],
) -> None:
    with_plugins({"rival-a": PLUGIN})
    with pytest.raises(BackendNotFoundError, match="nobody provides no backend 'npx'"):
        accelhal.device("npx@nobody:0")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise OSError('libx.so')", "OSError: libx.so"),
        ("assert False, 'no'", "AssertionError: no"),
        ("raise SystemExit(9)", "SystemExit: 9"),
        ("SPEC = 'nonsense'", "names a str, not a BackendSpec"),
        ("other = 1", "AttributeError"),
        (PLUGIN.replace('name="npx"', 'name="zzz"'), "calls itself 'zzz'"),
        (PLUGIN.replace("(1, 0)", "(7, 0)"), "written for interface 7.0, not 1.1"),
    ],
)
def test_a_broken_plugin_costs_only_itself(
    with_plugins: Callable[[Mapping[str, str]], None], code: str, reason: str
) -> None:
    with_plugins({f"broken-{abs(hash(code))}": code})
    listed = {backend.name: backend for backend in accelhal.backends()}
    assert reason in listed["npx"].probe.reason
    assert listed["npx"].probe.hint
    assert listed["cpu"].probe.status is ProbeStatus.AVAILABLE
    with pytest.raises(AccelhalError, match=r"npx"):
        accelhal.device("npx:0")


def test_the_name_cpu_belongs_to_accelhal(
    install_plugin: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = install_plugin(
        "usurper", code=PLUGIN, entry_points=entry("usurper", name="cpu"), module="usurper"
    )
    monkeypatch.syspath_prepend(str(folder))
    with pytest.raises(BackendConflictError, match="built in and also claimed by usurper"):
        accelhal.device("cpu")
    assert str(accelhal.device("cpu@accelhal:0")) == "cpu:0"
