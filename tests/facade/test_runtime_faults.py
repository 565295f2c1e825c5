"""Runtimes that fail where the facade asks before a call: known errors are typed there too."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_spec import fake_spec

import accelhal
from accelhal.errors import BackendLoadError, DeviceLostError, ErrorKind, UsageError
from accelhal.facts import Location
from accelhal.runtimes.cpu import CpuRuntime
from accelhal.spi import Support

pytestmark = pytest.mark.usefixtures("fresh_registry")

FORKED = RuntimeError("Cannot re-initialize TOY in forked subprocess")


class FailingRuntime(CpuRuntime):
    """The processor; each method fails with what `failures` holds for it."""

    def __init__(self) -> None:
        super().__init__()
        self.failures: dict[str, BaseException] = {}
        self.declared: Any = {}

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if not inspect.ismethod(found) or name.startswith("_"):
            return found

        def call(*args: object) -> Any:
            if name in self.failures:
                raise self.failures[name]
            return found(*args)

        return call

    def capabilities(self, index: int) -> Any:
        return self.declared or super().capabilities(index)


@pytest.fixture
def runtime() -> FailingRuntime:
    made = FailingRuntime()
    accelhal.register(fake_spec("toy", lambda: made))
    accelhal.device("toy:0")
    return made


USES: dict[str, tuple[str, Callable[[accelhal.Device], object]]] = {
    "device()": ("current_device", lambda device: accelhal.device("toy")),
    "device(name)": ("device_count", lambda device: accelhal.device("toy:0")),
    "torch_device": ("torch_device", lambda device: accelhal.device("toy:0")),
    "capabilities": ("capabilities", lambda device: accelhal.device("toy:0")),
    "devices()": ("device_count", lambda device: accelhal.devices("toy")),
    "with device": ("current_device", lambda device: device.__enter__()),
    "with stream": ("current_device", lambda device: device.stream(device.Stream()).__enter__()),
    "pickle": ("locate", pickle.dumps),
}


@pytest.mark.parametrize(("method", "use"), USES.values(), ids=USES)
def test_a_known_error_is_typed_wherever_the_runtime_is_asked(
    runtime: FailingRuntime, method: str, use: Callable[[accelhal.Device], object]
) -> None:
    device = accelhal.device("toy:0")
    runtime.failures[method] = FORKED
    with pytest.raises(UsageError, match="'spawn'") as caught:
        use(device)
    assert caught.value.backend == "toy"
    assert caught.value.__cause__ is FORKED


def test_what_leaving_a_context_meets_is_typed_too(runtime: FailingRuntime) -> None:
    device = accelhal.device("toy:0")
    with pytest.raises(UsageError, match="set_device failed"), device:
        runtime.failures["set_device"] = FORKED


def test_a_stream_that_cannot_be_set_is_told_by_the_first_error(runtime: FailingRuntime) -> None:
    device = accelhal.device("toy:0")
    stream = device.Stream()
    runtime.failures |= {"set_stream": FORKED, "set_device": RuntimeError("later")}
    with pytest.raises(UsageError, match="set_stream failed"):
        device.stream(stream).__enter__()


def test_an_unknown_error_is_left_as_it_is(runtime: FailingRuntime) -> None:
    runtime.failures["current_device"] = LookupError("?")
    with pytest.raises(LookupError):
        accelhal.device("toy")


@pytest.mark.parametrize("answer", [None, "device_lost", 5])
def test_a_classification_that_is_none_loses_no_error(
    runtime: FailingRuntime, answer: object
) -> None:
    device = accelhal.device("toy:0")
    runtime.classify_error = lambda error: answer  # type: ignore[method-assign,assignment,return-value]
    runtime.failures["synchronize"] = RuntimeError("the first one")
    with pytest.raises(RuntimeError, match="the first one"):
        device.synchronize()


def test_a_classification_that_fails_loses_no_error(runtime: FailingRuntime) -> None:
    device = accelhal.device("toy:0")
    runtime.failures["classify_error"] = OSError("broken")
    assert device.classify_error(KeyError()) is ErrorKind.UNKNOWN
    runtime.failures["synchronize"] = RuntimeError("the first one")
    with pytest.raises(RuntimeError, match="the first one"):
        device.synchronize()


@pytest.mark.parametrize(
    "declared", [["streams"], {"streams": None}, {"streams": True}, {"streams": "native"}, "all"]
)
def test_capabilities_are_a_mapping_to_support(runtime: FailingRuntime, declared: object) -> None:
    runtime.declared = declared
    with pytest.raises(BackendLoadError, match="capabilities"):
        accelhal.device("toy:0")


def test_a_capability_of_a_newer_interface_is_not_used(runtime: FailingRuntime) -> None:
    runtime.declared = {"streams": Support.NATIVE, "teleportation": Support.NATIVE}
    assert accelhal.device("toy:0").supports("streams") is Support.NATIVE


def test_a_lost_device_keeps_its_class_and_its_words(runtime: FailingRuntime) -> None:
    class Lost(DeviceLostError):
        def __str__(self) -> str:
            raise ValueError("no words")

    device = accelhal.device("toy:0")
    runtime.failures["synchronize"] = Lost("gone")
    with pytest.raises(DeviceLostError) as caught:
        device.synchronize()
    assert (caught.value.message, caught.value.device) == ("gone", "toy:0")


def test_a_pinned_device_is_found_again_where_two_distributions_share_its_name(
    install_plugin: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner in ("accelhal-one", "accelhal-two"):
        module = owner.replace("-", "_")
        code = f"""
        from accelhal.facts import Probe, ProbeStatus
        from accelhal.runtimes.cpu import CpuRuntime
        from accelhal.spi import BackendSpec
        SPEC = BackendSpec(
            name="shared", vendor="{owner}", api_version=(1, 0), priority=1,
            probe=lambda host: Probe(ProbeStatus.AVAILABLE, 1, "there"), open_runtime=CpuRuntime,
        )
        """
        entry = f"[accelhal.backends]\nshared = {module}:SPEC\n"
        folder = install_plugin(owner, code=code, module=module, entry_points=entry)
        monkeypatch.syspath_prepend(folder)
    from accelhal.registry.state import state

    sent = pickle.dumps(accelhal.device("shared@Accelhal_Two:0"))
    state.opened.clear()  # another process has opened nothing
    assert pickle.loads(sent).vendor == "accelhal-two"


def test_a_location_is_asked_anew_for_every_pickle(runtime: FailingRuntime) -> None:
    runtime.locate = lambda index: Location(None, "nowhere")  # type: ignore[method-assign,assignment]
    assert pickle.loads(pickle.dumps(accelhal.device("toy:0"))) == accelhal.device("toy:0")
