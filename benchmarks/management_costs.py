"""What a driver process costs over the library in one's own process, on a simulated NVML.

    python benchmarks/management_costs.py

Needs gcc. Prints ratios and differences of one run; nothing of it is a board's speed.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

ROUNDS = 200
SECONDS = 10.0


def milliseconds(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Median over the rounds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def cpu_seconds() -> float:
    """Of all threads of this process and of its children, so far.

    The kernel's Documentation/scheduler/sched-stats.rst says what the files hold.
    """
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    threads = [t for pid in ["self", *children] for t in Path(f"/proc/{pid}/task").iterdir()]
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def main() -> None:
    from vendor_stacks.simulated_library import build

    with tempfile.TemporaryDirectory() as folder:
        library = build("nvml/nvml.c", "libnvidia-ml.so.1", Path(folder))
        scenario = Path(folder) / "scenario"
        scenario.write_text("boards 64\n")
        os.environ["SIM_SCENARIO"] = str(scenario)
        os.environ["SIM_FIXED"] = "1"
        if str(library.parent) not in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
            os.environ["LD_LIBRARY_PATH"] = str(library.parent)
            os.environ["ACCELHAL_BENCHMARK_FOLDER"] = folder
            status = os.spawnv(os.P_WAIT, sys.executable, [sys.executable, *sys.argv])
            sys.exit(status)


def measure() -> None:
    from accelhal_cuda.spec import SPEC

    from accelhal.management.driver_client import DriverClient
    from accelhal.management.remote import RemoteManagement, read_all

    assert SPEC.open_management is not None
    own = SPEC.open_management()
    keys = [board.key for board in own.boards() if board.key is not None]

    start = time.perf_counter()
    client = DriverClient("cuda", SPEC.open_management)
    client.open()
    print(f"start of the driver process  {1e3 * (time.perf_counter() - start):8.1f} ms")

    remote = RemoteManagement(client)
    for count in (1, 8, 64):
        direct = milliseconds(lambda count=count: read_all(own, "telemetry", keys[:count]))
        across = milliseconds(lambda count=count: read_all(remote, "telemetry", keys[:count]))
        print(
            f"a sample of {count:2} boards         {direct:8.2f} ms in process, "
            f"{across:.2f} ms across: {across - direct:+.2f} ms, {across / direct:.2f} x"
        )

    before, until = cpu_seconds(), time.monotonic() + SECONDS
    while time.monotonic() < until:
        read_all(remote, "telemetry", keys)
        time.sleep(1.0)
    share = (cpu_seconds() - before) / SECONDS
    client.close()
    print(
        f"64 boards once a second      {100 * share:8.2f} % of a core, the driver process included"
    )


if __name__ == "__main__":
    measure() if "ACCELHAL_BENCHMARK_FOLDER" in os.environ else main()
