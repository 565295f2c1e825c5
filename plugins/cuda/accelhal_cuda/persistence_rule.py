"""The doctor's driver.persistence: whether the driver stays loaded while nobody uses a board."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from accelhal.facts import Finding, FindingState
from accelhal.spi.doctor import Check, DoctorFacts, Text
from accelhal_cuda.product_lines import is_data_centre

_ID = "driver.persistence"

SERVICE = "nvidia-persistenced.service"

TEXTS: Mapping[str, Text] = {
    "persistence.on": Text("{device}: persistence mode is on where it is told"),
    "persistence.off": Text(
        "{device}: persistence mode is off on the boards {boards}",
        "The driver starts each board anew for the first program: seconds at every start, and "
        "clocks, limits and error counts that were set are lost when the last one ends.",
        "persistence mode on boards of the data centre",
    ),
}


def _persistence(facts: DoctorFacts) -> Iterator[Finding]:
    told = [
        (reading.board, reading.details.persistence)
        for reading in facts.readings("cuda")
        if reading.board.parent is None
        and reading.details is not None
        and reading.details.persistence is not None
        and is_data_centre(reading.board.name)
    ]
    off = [board for board, on in told if not on]
    services = facts.record.services
    if off:
        yield Finding(
            _ID,
            "persistence.off",
            FindingState.INFO if services is None else FindingState.WARN,
            {"boards": ", ".join(str(board.index) for board in off)},
            "cuda",
            {SERVICE: (services or {}).get(SERVICE, "not seen")},
            commands=(f"sudo systemctl enable --now {SERVICE}", "sudo nvidia-smi -pm 1"),
            needs_root=True,
        )
    elif told:
        yield Finding(_ID, "persistence.on", FindingState.OK, device="cuda")


PERSISTENCE = Check(
    _ID,
    "Driver",
    "whether the driver stays loaded while nobody uses a board",
    ("NVML",),
    _persistence,
    depends_on=("driver.module",),
    explanation="Without persistence mode the driver sets a board up anew for the first program "
    "and forgets settings after the last. It is a warning on boards of the data centre only, and "
    "a remark where the host's services are not seen, as in a container; on desktops the display "
    "keeps the driver loaded.",
)
