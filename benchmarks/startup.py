"""How long accelhal takes to start, as ratios to a bare interpreter and to torch's own report.

Run it on a quiet machine: `python benchmarks/startup.py`. Each command runs several times in turn;
the smallest wall time counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 7

ACCELHAL = str(Path(sys.executable).with_name("accelhal"))

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import accelhal": [sys.executable, "-c", "import accelhal"],
    "accelhal.backends()": [sys.executable, "-c", "import accelhal; accelhal.backends()"],
    "accelhal devices": [ACCELHAL, "devices"],
    "accelhal doctor": [ACCELHAL, "doctor"],
    "torch collect_env": [sys.executable, "-m", "torch.utils.collect_env"],
}


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True, timeout=120, env=dict(os.environ))
    return time.perf_counter() - start


def main() -> None:
    best = dict.fromkeys(COMMANDS, float("inf"))
    for _ in range(ROUNDS):
        for name, command in COMMANDS.items():
            best[name] = min(best[name], seconds(command))
    bare, report = best["python -c pass"], best["torch collect_env"]
    print(f"{'command':<22}{'wall':>10}{'over bare':>12}{'x bare':>9}{'x collect_env':>15}")
    for name, took in best.items():
        print(
            f"{name:<22}{took * 1e3:>7.0f} ms{(took - bare) * 1e3:>9.0f} ms"
            f"{took / bare:>9.1f}{took / report:>15.3f}"
        )


if __name__ == "__main__":
    main()
