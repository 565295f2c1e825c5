"""Where torch.cuda does not do what it seems to: through accelhal, on torch's own Python."""

from __future__ import annotations

import dataclasses

from vendor_stacks.cuda.process import run_python
from vendor_stacks.cuda.settings import Settings


def test_memory_figures_of_an_unused_device_start_nothing(stack: Settings) -> None:
    """Before first use torch.cuda has no statistics: an empty mapping, and resets that fail."""
    code = """
import accelhal
device = accelhal.device("cuda:1")
device.reset_peak_memory_stats()
print(device.memory_allocated(), device.memory_stats().allocated, device.memory_stats().ooms)
import torch
print(torch.cuda.is_initialized())
"""
    assert run_python(code, stack).split() == ["0", "0", "0", "False"]


def test_the_capture_mode_that_is_asked_for_arrives(stack: Settings) -> None:
    """The vendors' defaults differ, and so does the place of the parameter."""
    code = """
import accelhal, torch
seen = []
begin = torch._C._CUDAGraph.capture_begin
def watch(self, pool=None, capture_error_mode="global"):
    seen.append(capture_error_mode)
    return begin(self, pool, capture_error_mode)
torch._C._CUDAGraph.capture_begin = watch
device = accelhal.device("cuda:0")
ones = torch.ones(4, device=device.torch_device)
for mode in ("relaxed", "thread_local", "global"):
    with device.graph(device.Graph(), capture_error_mode=mode):
        ones + 1
print(*seen)
"""
    assert run_python(code, stack).split() == ["relaxed", "thread_local", "global"]


def test_emulated_bfloat16_is_not_called_arithmetic(stack: Settings) -> None:
    """torch.cuda.is_bf16_supported() is True on boards that only emulate it."""
    code = """
import accelhal, torch
torch.cuda._check_bf16_tensor_supported = lambda device: True  # as on every board
device = accelhal.device("cuda:0")
found = device.supported_dtypes()
print(torch.bfloat16 in found.storage, torch.bfloat16 in found.compute | found.autocast)
try:
    device.autocast(torch.bfloat16)
except accelhal.UsageError as error:
    print("refused")
print(torch.cuda.is_bf16_supported())
"""
    old = dataclasses.replace(stack, boards=("t4", "t4"))
    assert run_python(code, old).split() == ["True", "False", "refused", "True"]


def test_a_stream_of_another_device_leaves_the_current_device_alone(stack: Settings) -> None:
    """torch.cuda.set_stream makes the stream's device current too."""
    code = """
import accelhal, torch
here, there = accelhal.devices("cuda")
with here:
    with there.stream(there.Stream()):
        print(torch.cuda.current_device())
    print(torch.cuda.current_device())
    there.synchronize(), there.empty_cache(), there.memory_stats(), there.properties
    print(torch.cuda.current_device())
"""
    assert run_python(code, stack).split() == ["1", "0", "0"]


def test_an_index_beyond_the_count_is_one_typed_error(stack: Settings) -> None:
    """torch.cuda raises AssertionError in one call, RuntimeError in another."""
    code = """
import accelhal, torch
for call in (lambda: accelhal.device("cuda:7"), lambda: torch.cuda.get_device_name(7)):
    try:
        call()
    except Exception as error:
        print(type(error).__name__)
"""
    assert run_python(code, stack).split() == ["DeviceNotFoundError", "AssertionError"]


def test_a_driver_without_boards_is_named(stack: Settings) -> None:
    """A CUDA build counts 0 devices and raises nothing; opening says what the probe saw."""
    code = """
import accelhal
try:
    accelhal.device("cuda")
except accelhal.DeviceNotFoundError as error:
    print(error)
print(accelhal.device("cpu"))
"""
    shown = run_python(code, dataclasses.replace(stack, boards=()))
    assert "counts no device" in shown
    assert shown.endswith("cpu:0")


def test_the_board_is_known_without_a_uuid(stack: Settings) -> None:
    """torch 2.4 tells no UUID: the PCI address, or the place in the variable, names the board."""
    code = """
import accelhal
for device in accelhal.devices("cuda"):
    print(device.location.key.source, device.location.key.value)
"""
    with_pci = dataclasses.replace(stack, missing_properties=("uuid",), reports_pci=True)
    assert run_python(code, with_pci).splitlines() == ["pci 0000:10:00.0", "pci 0000:11:00.0"]
    bare = dataclasses.replace(stack, missing_properties=("uuid",))
    ordered = run_python(code, bare, CUDA_VISIBLE_DEVICES="1", CUDA_DEVICE_ORDER="PCI_BUS_ID")
    assert ordered == "visible-order 1"
