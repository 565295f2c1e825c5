"""Under `clock="real"`, boards work at the same time: four against one, in one run.

Each board has a host thread that launches steps and waits for each. A step takes milliseconds of
board time (boards are slowed down by an injected fault), so that the host's own work is small.
"""

from __future__ import annotations

import threading
import time

import accelhal_mock
import torch

import accelhal

BOARDS = 4
STEPS = 60
SLOWNESS = 2000  # a launch of some microseconds becomes some ten milliseconds


def work(device: accelhal.Device, barrier: threading.Barrier) -> None:
    x = torch.ones(32, 32, device=device.torch_device)
    device.synchronize()
    barrier.wait(60)
    for _ in range(STEPS):
        x = x + 1
        device.synchronize()


def steps_per_second(devices: list[accelhal.Device]) -> float:
    barrier = threading.Barrier(len(devices) + 1)
    threads = [threading.Thread(target=work, args=(d, barrier)) for d in devices]
    for thread in threads:
        thread.start()
    barrier.wait(60)
    start = time.perf_counter()
    for thread in threads:
        thread.join(300)
    return len(devices) * STEPS / (time.perf_counter() - start)


def main() -> None:
    accelhal_mock.install(count=BOARDS, clock="real", hazards="off")
    devices = accelhal.devices("mock")
    for board in range(BOARDS):
        accelhal_mock.inject("slow", device=board, factor=SLOWNESS)
    one = steps_per_second(devices[:1])
    all_of_them = steps_per_second(devices)
    print(f"1 board:  {one:8.1f} steps/s")
    print(f"{BOARDS} boards: {all_of_them:8.1f} steps/s, {all_of_them / one:.2f} x one board")


if __name__ == "__main__":
    main()
