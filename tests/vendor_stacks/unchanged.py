"""A program over accelhal as its users write them: it names no vendor, and runs on each board.

It prints one JSON document of what it saw. The board is the one that ACCELHAL_DEVICE names.
"""

from __future__ import annotations

import json
from typing import Any

import torch

import accelhal
from accelhal.graphs import GraphedModule

IMPOSSIBLE = 1 << 50  # bytes: more than any board has


def train(device: accelhal.Device) -> torch.Tensor:
    """Weights, on the host, after three steps of a small regression."""
    torch.manual_seed(7)
    model = torch.nn.Linear(8, 1)
    inputs, targets = torch.randn(16, 8), torch.randn(16, 1)
    model, inputs, targets = (thing.to(device.torch_device) for thing in (model, inputs, targets))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
    device.synchronize()
    return model.weight.detach().cpu()


def infer(device: accelhal.Device) -> torch.Tensor:
    """Outputs, on the host, of a small network."""
    torch.manual_seed(7)
    model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    inputs = torch.randn(16, 8)
    model = model.eval().to(device.torch_device)
    with torch.inference_mode():
        return model(inputs.to(device.torch_device)).cpu()


def repeat_random(device: accelhal.Device) -> bool:
    """Whether a restored generator gives the same numbers again."""
    device.manual_seed(3)
    state = device.get_rng_state()
    first = torch.rand(64, device=device.torch_device).cpu()
    device.set_rng_state(state)
    return torch.equal(first, torch.rand(64, device=device.torch_device).cpu())


def held(device: accelhal.Device) -> int:
    """Bytes that a tensor of one MiB takes."""
    before = device.memory_allocated()
    tensor = torch.empty(1 << 20, dtype=torch.uint8, device=device.torch_device)
    taken = device.memory_allocated() - before
    assert tensor.numel() == 1 << 20
    return taken


def overlap(device: accelhal.Device) -> bool:
    """Whether a copy on a side stream is there once the main stream has waited for it."""
    source = device.pin_memory(torch.arange(1 << 16, dtype=torch.float32))
    side, done = device.Stream(), device.Event(enable_timing=True)
    started = device.Event(enable_timing=True)
    with device.stream(side):
        started.record(side)
        copied = source.to(device.torch_device, non_blocking=True)
        done.record(side)
    device.current_stream().wait_event(done)
    right = torch.equal((copied * 2).cpu(), source * 2)
    device.synchronize()
    return right and started.elapsed_time(done) >= 0


def overflow(device: accelhal.Device) -> str:
    """What accelhal makes of the error that too large a tensor raises."""
    try:
        torch.empty(IMPOSSIBLE, dtype=torch.uint8, device=device.torch_device)
    except RuntimeError as error:
        return device.classify_error(error).name
    return "no error"


def replay(device: accelhal.Device) -> bool:
    """Whether a captured model follows its input."""
    model = torch.nn.Linear(4, 4).to(device.torch_device).eval()
    graphed = GraphedModule(model, batch_sizes=(2, 4))
    with torch.no_grad():
        for rows in (3, 4, 1):
            inputs = torch.randn(rows, 4).to(device.torch_device)
            if not torch.allclose(graphed(inputs).cpu(), model(inputs).cpu(), atol=1e-6):
                return False
    return True


def attempt(function: Any, device: accelhal.Device) -> Any:
    """The function's result, or the error where the board's library has no such operator."""
    try:
        found = function(device)
    except RuntimeError as error:
        return f"not here: {error}".splitlines()[0][:200]
    return found.tolist() if isinstance(found, torch.Tensor) else found


def main() -> None:
    device = accelhal.device()
    seen: dict[str, Any] = {
        "device": str(device),
        "devices": len(accelhal.devices(device.backend)),
        "named": bool(device.properties.name),
        "health": device.health().status.value,
        "telemetry": bool(device.telemetry()),
        "overflow": overflow(device),
    }
    if device.supports("memory_stats"):
        seen["held"] = held(device)
    if device.supports("streams") and device.supports("pin_memory"):
        seen["overlap"] = attempt(overlap, device)
    seen["random"] = attempt(repeat_random, device)
    seen["infer"] = attempt(infer, device)
    if device.supports("graphs"):
        seen["graphs"] = attempt(replay, device)
    seen["train"] = attempt(train, device)
    print("\n" + json.dumps(seen))


if __name__ == "__main__":
    main()
