"""The doctor's fabric.state: whether boards behind NVSwitch have joined their fabric."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from accelhal.facts import Finding, FindingState
from accelhal.spi.doctor import Check, DoctorFacts, MessageRule, Text

SERVICE = "nvidia-fabricmanager.service"

_ID = "fabric.state"

_SOUND = frozenset({"completed", "success", "not supported", "n/a"})
"""States of boards that have joined, or that are on no fabric."""

_START = (
    "sudo systemctl enable --now nvidia-fabricmanager",
    "journalctl -u nvidia-fabricmanager | tail -50",
)

TEXTS: Mapping[str, Text] = {
    "fabric.none": Text("no board is on an NVSwitch fabric"),
    "fabric.joined": Text("{count} boards have joined the NVSwitch fabric"),
    "fabric.waits": Text(
        "{device}: boards {boards} have not joined the NVSwitch fabric: {state}",
        "CUDA does not start on them: error 802, system not yet initialized. The fabric manager "
        "joins them; the service is {service} here.",
        "fabric state Completed on every board",
    ),
    "fabric.not_ready": Text(
        "{device}: error 802, system not yet initialized",
        "The boards are behind NVSwitch and have not joined their fabric: the fabric manager does "
        "not run, has not finished, or is of another version than the driver.",
        "the fabric manager runs, in the very version of the driver",
    ),
    "fabric.other_version": Text(
        "{device}: the fabric manager {manager} does not go with the driver {driver}",
        "It must be of the very version of the driver, and stops where it is not.",
        "the fabric manager {driver}",
    ),
}

MESSAGES: tuple[MessageRule, ...] = (
    MessageRule(
        pattern=re.compile(
            r"system not yet initialized|CUDA_ERROR_SYSTEM_NOT_READY|\berror:? 802\b"
            r"|cudaErrorSystemNotReady",
            re.IGNORECASE,
        ),
        needle="",
        check=_ID,
        code="fabric.not_ready",
        commands=("systemctl status nvidia-fabricmanager", *_START),
        needs_root=True,
    ),
    MessageRule(
        pattern=re.compile(
            r"interface version (?P<manager>[0-9.]+) don'?t match with driver version "
            r"(?P<driver>[0-9]+(?:\.[0-9]+)*)",
            re.IGNORECASE,
        ),
        needle="driver version",
        check=_ID,
        code="fabric.other_version",
        commands=(
            "install nvidia-fabricmanager {driver}",
            "sudo systemctl restart nvidia-fabricmanager",
        ),
        needs_root=True,
        disturbs=True,
    ),
)


def _fabric(facts: DoctorFacts) -> Iterator[Finding]:
    seen = {
        str(reading.board.index): reading.details.fabric
        for reading in facts.readings("cuda")
        if reading.details is not None and reading.details.fabric is not None
    }
    waiting = {index: state for index, state in seen.items() if _first(state) not in _SOUND}
    services = facts.record.services
    manager = facts.versions("cuda").get("fabric_manager")
    driver = facts.versions("cuda").get("driver")
    if waiting:
        state = (services or {}).get(SERVICE) or (services or {}).get("nvidia-fabricmanager")
        params = {
            "boards": ", ".join(waiting),
            "state": next(iter(waiting.values())),
            "service": state or "not seen",
        }
        yield Finding(
            _ID, "fabric.waits", FindingState.FAIL, params, "cuda", commands=_START, needs_root=True
        )
    elif seen and manager and driver and manager != driver:
        params = {"manager": manager, "driver": driver}
        commands = (f"install nvidia-fabricmanager {driver}", *_START[:1])
        yield Finding(
            _ID,
            "fabric.other_version",
            FindingState.FAIL,
            params,
            "cuda",
            commands=commands,
            needs_root=True,
        )
    elif seen:
        yield Finding(_ID, "fabric.joined", FindingState.OK, {"count": len(seen)}, "cuda")
    elif facts.readings("cuda"):
        yield Finding(_ID, "fabric.none", FindingState.OK)


def _first(state: str) -> str:
    """The state without what failed in it ("completed: ...")."""
    return re.split(r"[,:;(]", state, maxsplit=1)[0].strip().lower()


FABRIC = Check(
    _ID,
    "Links",
    "whether boards behind NVSwitch have joined their fabric",
    ("NVML", "the service nvidia-fabricmanager", "lines of programs"),
    _fabric,
    depends_on=("driver.module",),
    explanation="Boards behind NVSwitch are joined by the fabric manager, a service in the very "
    "version of the driver. Until it has, CUDA ends with error 802 on all of them, while "
    "nvidia-smi works. Boards without NVSwitch need none of it.",
)
