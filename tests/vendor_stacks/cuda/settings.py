"""What a child process is told of the boards it has."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass

VARIABLE = "ACCELHAL_TEST_SIMULATED_CUDA"


@dataclass(frozen=True)
class Settings:
    """The simulated stack.

    Attributes:
        boards: profile of each board, in the driver's order.
        memory: bytes of each board; None for the profile's.
        faults: as in ACCELHAL_MOCK_FAULTS.
        host: folder of the tree of files that the probe reads in place of this machine.
        guard: the library built from guard.cpp.
        reports_pci: whether torch's properties hold the PCI address, as newer releases' do.
        nvml: whether a simulated NVML is where the loader looks.
        missing_properties: fields that torch's properties do not have, as in an older release.
    """

    boards: tuple[str, ...] = ("h100", "h100")
    memory: int | None = 2 << 30
    faults: str = ""
    host: str = ""
    guard: str = ""
    reports_pci: bool = False
    nvml: bool = False
    missing_properties: tuple[str, ...] = ()

    def written(self) -> str:
        """As the variable holds it."""
        return json.dumps(asdict(self))


def settings() -> Settings:
    """What this process was started with."""
    found = json.loads(os.environ[VARIABLE])
    for name in ("boards", "missing_properties"):
        found[name] = tuple(found[name])
    return Settings(**found)
