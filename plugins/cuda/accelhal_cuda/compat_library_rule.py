"""The doctor's driver.userlib for NVIDIA: a libcuda of cuda-compat in the driver's place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from accelhal.facts import Finding, FindingState
from accelhal.spi.doctor import DoctorFacts, Text
from accelhal.spi.versions import version_key
from accelhal_cuda.product_lines import is_consumer
from accelhal_cuda.versions import compat_library, file_version

_ID = "driver.userlib"

TEXTS: Mapping[str, Text] = {
    "compat.consumer": Text(
        "{device}: the loader takes libcuda of cuda-compat from {folder}, before the driver's",
        "Forward compatibility is for data-centre boards; on {board} programs end with error 804.",
        "the driver's own libcuda, and a driver as new as the image's CUDA release",
    ),
    "compat.older": Text(
        "{device}: the loader takes libcuda {version} of cuda-compat, older than driver {driver}",
        "cuda-compat is for drivers older than itself; programs end with error 803.",
        "the driver's own libcuda",
    ),
}


def leave_compat_out(folder: str) -> tuple[str, ...]:
    """Commands that take cuda-compat off the loader's path."""
    others = f'tr : "\\n" <<< "$LD_LIBRARY_PATH" | grep -vx {folder} | paste -sd :'
    return (
        f"export LD_LIBRARY_PATH=$({others})",
        "grep -rl compat /etc/ld.so.conf.d  # remove what names the folder, then: sudo ldconfig",
    )


def judge_libraries(facts: DoctorFacts) -> Iterator[Finding]:
    """Nothing where libcuda is the driver's, or cuda-compat serves a board that it is for."""
    path = compat_library(facts.record)
    if not path:
        return
    folder, version = str(PurePosixPath(path).parent), file_version(path)
    driver = facts.versions("cuda").get("driver", "")
    names = [reading.board.name for reading in facts.readings("cuda")]
    consumer = next((name for name in names if is_consumer(name)), None)
    code, params = "", {"folder": folder}
    if version and driver and version_key(version) < version_key(driver):
        code, params = "compat.older", {"version": version, "driver": driver}
    elif consumer is not None and version != driver:
        code, params = "compat.consumer", {"folder": folder, "board": consumer}
    if code:
        yield Finding(
            _ID,
            code,
            FindingState.FAIL,
            params,
            "cuda",
            {"libcuda.so.1": path},
            commands=leave_compat_out(folder),
        )
