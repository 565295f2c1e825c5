"""What a board's page of `nvidia-smi -q` says of its health, in the driver's terms."""

from __future__ import annotations

from functools import partial

from accelhal.drivers.printed import not_shown
from accelhal.drivers.readings import NotReportedError, or_none
from accelhal.facts import HealthReport, MemoryErrors, Telemetry
from accelhal_cuda.driver_words import THROTTLE_REASONS
from accelhal_cuda.evidence import words
from accelhal_cuda.evidence.pages import Page, node, value
from accelhal_cuda.health_rules import memory_checks, recovery_check, throttle_check, unreachable

_RECOVERY = ("gpu_recovery_action", "GPU Recovery Action")
_RECOVERY_WORDS = {"None": 0, "Reset": 1, "Reboot": 2, "Drain P2P": 3, "Drain and Reset": 4}
"""nvmlDeviceGpuRecoveryAction_t, as the tool prints it."""

_RESET, _DRAIN_AND_RESET = 1, 4

_RESET_STATUS = (
    (
        _DRAIN_AND_RESET,
        (
            "gpu_reset_status/drain_and_reset_recommended",
            "GPU Reset Status/Drain and Reset Recommended",
        ),
    ),
    (_RESET, ("gpu_reset_status/reset_required", "GPU Reset Status/Reset Required")),
)
"""What releases before 560 print in its place."""

_THROTTLE = (
    "clocks_event_reasons",
    "clocks_throttle_reasons",
    "Clocks Event Reasons",
    "Clocks Throttle Reasons",
)
_THROTTLE_TAGS = ("clocks_event_reason_", "clocks_throttle_reason_")
_THROTTLE_BITS = {
    "gpu_idle": 0x1,
    "idle": 0x1,
    "applications_clocks_setting": 0x2,
    "sw_power_cap": 0x4,
    "hw_slowdown": 0x8,
    "sync_boost": 0x10,
    "sw_thermal_slowdown": 0x20,
    "hw_thermal_slowdown": 0x40,
    "hw_power_brake_slowdown": 0x80,
    "display_clocks_setting": 0x100,
    "display_clock_setting": 0x100,
}
"""The tool's label in the spelling of XML -> bit of nvmlClocksEventReasons*."""

_active = words.one_of({"Active": True, "Not Active": False})


def throttle_reasons(page: Page) -> tuple[str, ...]:
    """The reasons that are active, in the words of live boards.

    Raises:
        NotReportedError: the page does not show them, or one of them cannot be read.
    """
    found = node(page, _THROTTLE)
    if found is None:
        raise NotReportedError(words.NOT_SHOWN)
    if not found.parts:
        raise NotReportedError(f"{found.name}: {not_shown(found.value)}")
    active, known = 0, 0
    for part in list(found.walk())[1:]:
        bit = _THROTTLE_BITS.get(_plain(part.name), 0)
        if part.value == "N/A":
            continue  # a reason that this board does not have
        is_active = part.read(_active)
        if is_active and not bit:
            raise NotReportedError(f"{part.name}: a reason that is not known here")
        known += 1
        active |= bit if is_active else 0
    if not known:
        raise NotReportedError(f"{found.name}: N/A")
    return tuple(name for bit, name in THROTTLE_REASONS.items() if active & bit)


def health(
    page: Page, sensors: Telemetry | None, errors: MemoryErrors | None
) -> HealthReport | None:
    """The worst of what the page shows of the board's health; None where it shows nothing of it."""
    said = {part.value.strip("[]") for part in page.walk()}
    if words.LOST in said:
        return unreachable(words.LOST)
    checks = memory_checks(errors) if errors else []
    action = _RESET if words.RESET_REQUIRED in said else or_none(partial(_recovery, page))
    if action is not None:
        checks.append(recovery_check(action))
    if sensors is not None and sensors.throttle_reasons is not None:
        checks.append(throttle_check(sensors.throttle_reasons))
    return HealthReport.of(checks) if checks else None


def _recovery(page: Page) -> int:
    """What the driver asks for, a number of nvmlDeviceGpuRecoveryAction_t.

    Raises:
        NotReportedError: the page does not say.
    """
    if node(page, _RECOVERY) is not None:
        return int(value(page, _RECOVERY, words.one_of(_RECOVERY_WORDS)))
    answers = {
        action: or_none(partial(value, page, paths, words.yes_no))
        for action, paths in _RESET_STATUS
    }
    asked = next((action for action, answer in answers.items() if answer), None)
    if asked is None and None in answers.values():
        raise NotReportedError(words.NOT_SHOWN)
    return asked or 0


def _plain(label: str) -> str:
    """A label of either spelling in the words that both share."""
    plain = label.casefold().replace(" ", "_")
    for tag in _THROTTLE_TAGS:
        plain = plain.removeprefix(tag)
    return plain
