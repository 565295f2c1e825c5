"""Arguments of the facade: what torch takes is taken, anything else is one clear UsageError."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import accelhal
from accelhal.device_name import parse_device_name
from accelhal.errors import BackendConflictError, UsageError

pytestmark = pytest.mark.usefixtures("fresh_registry")


@pytest.fixture
def device() -> accelhal.Device:
    return accelhal.device("cpu")


@pytest.mark.parametrize("index", ["9" * 10, "9" * 5000])
def test_an_absurd_index_is_no_device_name(index: str) -> None:
    with pytest.raises(UsageError, match="not a device name"):
        parse_device_name(f"cpu:{index}")


@pytest.mark.parametrize("index", ["0", True, 0.0, np.int64(0)])
def test_what_only_looks_like_a_torch_device_is_refused(index: object) -> None:
    with pytest.raises(UsageError, match="not a device name"):
        accelhal.device(SimpleNamespace(type="cpu", index=index))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["cpu:0", torch.device("cpu", 0)])
def test_devices_takes_a_backend_not_a_device(name: Any) -> None:
    with pytest.raises(UsageError, match=r"names one device.*\n  next: .*devices\('cpu'\)"):
        accelhal.devices(name)
    assert accelhal.devices(torch.device("cpu")) == accelhal.devices("cpu")


def test_copies_are_the_device_itself(device: accelhal.Device) -> None:
    assert copy.copy(device) is device
    assert copy.deepcopy({"device": [device]})["device"][0] is device


@pytest.mark.parametrize("seed", [7, np.int64(7), np.uint8(7), torch.tensor(7), 2**64 - 1])
def test_integers_of_any_kind_seed(device: accelhal.Device, seed: Any) -> None:
    device.manual_seed(seed)
    drawn = torch.rand(2)
    device.manual_seed(int(seed))
    assert torch.equal(torch.rand(2), drawn)


@pytest.mark.parametrize("seed", [True, 1.0, "1", None, 2**64, torch.tensor(1.0), np.bool_(True)])
def test_other_seeds_are_refused(device: accelhal.Device, seed: Any) -> None:
    with pytest.raises(UsageError, match="seed must be an integer"):
        device.manual_seed(seed)


STATE_SIZE = 5056  # bytes of the processor's generator


@pytest.mark.parametrize(
    "state",
    [
        "state",
        None,
        np.zeros(STATE_SIZE, np.uint8),
        torch.zeros(STATE_SIZE),
        torch.zeros(STATE_SIZE, dtype=torch.uint8, device="meta"),
        torch.zeros(3, dtype=torch.uint8),
        torch.zeros(STATE_SIZE, dtype=torch.uint8),
    ],
    ids=lambda state: f"{type(state).__name__} {getattr(state, 'shape', '')}",
)
def test_a_state_that_is_none_is_refused(device: accelhal.Device, state: Any) -> None:
    before = device.get_rng_state()
    with pytest.raises(UsageError):
        device.set_rng_state(state)
    assert torch.equal(device.get_rng_state(), before)


@pytest.mark.parametrize("dtype", ["float16", None, [], {}, np.float16, torch.float64])
def test_autocast_takes_a_dtype_it_has(device: accelhal.Device, dtype: Any) -> None:
    with pytest.raises(UsageError, match="has no autocast in"):
        device.autocast(dtype)


@pytest.mark.parametrize("capability", [None, 5, [], "stream"])
def test_capabilities_are_asked_for_by_name(device: accelhal.Device, capability: Any) -> None:
    with pytest.raises(UsageError, match="is not a capability"):
        device.supports(capability)


def test_only_a_stream_is_entered(device: accelhal.Device) -> None:
    for other in ("stream", 5, torch.ones(1), device.Event(), torch.Event("cpu")):
        with pytest.raises(UsageError, match="cannot enter a stream of"):
            device.stream(other)


@pytest.mark.parametrize("priority", ["high", None, 0.5, True])
def test_a_priority_is_an_integer(device: accelhal.Device, priority: Any) -> None:
    with pytest.raises(UsageError, match="priority must be an integer"):
        device.Stream(priority)


@pytest.mark.parametrize("flag", ["yes", None, 1, []])
def test_an_events_flags_are_true_or_false(device: accelhal.Device, flag: Any) -> None:
    with pytest.raises(UsageError, match="enable_timing must be True or False"):
        device.Event(enable_timing=flag)
    with pytest.raises(UsageError, match="blocking must be True or False"):
        device.Event(blocking=flag)


@pytest.mark.parametrize("end", [None, "event", torch.Event("cpu")])
def test_time_ends_at_an_event_of_the_same_device(device: accelhal.Device, end: Any) -> None:
    start = device.Event(enable_timing=True)
    start.record()
    with pytest.raises(UsageError, match="needs an event of the same device"):
        start.elapsed_time(end)


@pytest.mark.parametrize("precision", [None, 5, b"ieee", ["ieee"], "fp4"])
def test_a_float32_precision_is_one_of_torchs_words(
    device: accelhal.Device, precision: Any
) -> None:
    before = device.float32_precision
    with pytest.raises(UsageError, match="precision"):
        device.float32_precision = precision
    assert device.float32_precision == before


@pytest.mark.parametrize("fraction", [np.float32(2.0), np.int64(-1), float("nan"), True, "1", None])
def test_a_fraction_outside_is_refused(device: accelhal.Device, fraction: Any) -> None:
    with pytest.raises(UsageError, match="memory fraction"):
        device.set_per_process_memory_fraction(fraction)


@pytest.mark.parametrize("fraction", [np.float32(0.5), np.int64(1), 0])
def test_numbers_of_any_kind_are_fractions(fraction: Any) -> None:
    accelhal.device("mock:1").set_per_process_memory_fraction(1.0)
    accelhal.device("mock:1").set_per_process_memory_fraction(fraction)
    accelhal.device("mock:1").set_per_process_memory_fraction(1.0)


def test_another_distributions_backend_is_a_conflict_in_any_spelling() -> None:
    assert accelhal.device("cpu@Accelhal:0") == accelhal.device("cpu")
    with pytest.raises(BackendConflictError, match="already in use from accelhal"):
        accelhal.device("cpu@accelhal-cpu")
