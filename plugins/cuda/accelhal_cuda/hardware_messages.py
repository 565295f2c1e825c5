"""What lines of programs and NVIDIA's tools say of sick boards and vGPU licences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from accelhal.facts import Finding
from accelhal.spi.doctor import Check, DoctorFacts, MessageRule, Text

_RESET = "sudo nvidia-smi --gpu-reset -i 0  # with the board's own number; it ends the jobs"

TEXTS: Mapping[str, Text] = {
    "nvidia.lost": Text(
        "{device}: a board is lost: {said}",
        "The bus shows it and the driver cannot reach it: it fell off the bus, lost power, grew "
        "too hot (passive boards need the host's air), or is not seated.",
        "every board answers",
    ),
    "nvidia.ecc": Text(
        "{device}: a program met an uncorrectable memory error",
        "The board's memory gave wrong data, and the program ended. A reset maps the bad cells "
        "out; where a repair fails or the error comes back, the board is to be replaced.",
        "no uncorrectable error",
    ),
    "license.missing": Text(
        "{device}: vGPU licence: {status}",
        "A vGPU without a licence is slowed down after some minutes, by orders of magnitude, and "
        "then refuses work (46, busy or unavailable).",
        "License Status Licensed",
    ),
}

MESSAGES: tuple[MessageRule, ...] = (
    MessageRule(
        pattern=re.compile(
            r"(?P<said>GPU is lost|Unable to determine the device handle"
            r"|GPU requires reset)",
            re.IGNORECASE,
        ),
        needle="",
        check="device.lost",
        code="nvidia.lost",
        commands=(
            "sudo dmesg | grep -i xid",
            "sudo reboot",
            "if it does not come back: cold boot, reseat the board, check power and air",
        ),
        needs_root=True,
        disturbs=True,
    ),
    MessageRule(
        pattern=re.compile(
            r"uncorrectable (?:NVLink|ECC) error|CUDA_ERROR_ECC_UNCORRECTABLE"
            r"|cudaErrorECCUncorrectable",
            re.IGNORECASE,
        ),
        needle="",
        check="hw.ecc",
        code="nvidia.ecc",
        commands=(
            "nvidia-smi -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT",
            "drain the board: let no new job start on it",
            _RESET,
        ),
        needs_root=True,
        disturbs=True,
    ),
    MessageRule(
        pattern=re.compile(
            r"License Status\s*:\s*(?P<status>Unlicensed[^\n]{0,60}|Expired[^\n]{0,60}"
            r"|(?!Licensed)[A-Za-z ]*(?:denied|failed|expired)[^\n]{0,60})",
            re.IGNORECASE,
        ),
        needle="License Status",
        check="vgpu.license",
        code="license.missing",
        commands=(
            "sudo systemctl restart nvidia-gridd",
            "journalctl -u nvidia-gridd | tail -20",
            "nvidia-smi -q | grep -A2 'License Status'",
        ),
        needs_root=True,
    ),
    MessageRule(
        pattern=re.compile(
            r"nvidia-gridd.*(?P<status>Failed to acquire license|License expired|license lost"
            r"|Unlicensed)",
            re.IGNORECASE,
        ),
        needle="gridd",
        check="vgpu.license",
        code="license.missing",
        commands=("sudo systemctl restart nvidia-gridd", "look at the licence server's address"),
        needs_root=True,
    ),
)


def _nothing(facts: DoctorFacts) -> Iterator[Finding]:
    """All that is known of licences is said by lines: NVML tells it to the guest's tool alone."""
    yield from ()


LICENSE = Check(
    "vgpu.license",
    "Hardware",
    "the licence of virtual GPUs",
    ("nvidia-smi -q in the evidence", "lines of nvidia-gridd"),
    _nothing,
    explanation="A vGPU guest needs a licence from the licence server, fetched by nvidia-gridd. "
    "Without it the board is slow after minutes, then refuses work. It is judged from what "
    "nvidia-smi -q and the daemon's log say.",
)
