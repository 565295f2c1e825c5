"""The health of a board: the driver's own verdict, its active faults, errors, links and clocks."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from accelhal.drivers.library import roomy
from accelhal.drivers.readings import NotReportedError, or_none
from accelhal.errors import AccelhalError, DeviceTimeoutError, message_of
from accelhal.facts import HealthCheck, HealthReport, HealthStatus, MemoryErrors
from accelhal_ascend import dcmi as calls
from accelhal_ascend.dcmi import Address, Dcmi, text_of
from accelhal_ascend.dcmi_figures import throttle_reasons
from accelhal_ascend.dcmi_links import hccs_status

VERDICTS = {
    0: (HealthStatus.OK, "normal"),
    1: (HealthStatus.DEGRADED, "minor alarm"),
    2: (HealthStatus.FAILED, "major alarm"),
    3: (HealthStatus.FAILED, "critical alarm"),
    calls.NO_NUMBER: (HealthStatus.FAILED, "missing"),
}
"""What dcmi_get_device_health and dcmi_get_driver_health answer."""

_MAX_FAULTS = 128
"""Codes that the driver lists at most."""

_FAULT_TEXT_BYTES = 256
"""The call writes past a buffer of under 48 bytes, and a whole text takes more."""

_PROTECTION = frozenset({"thermal", "hardware_current", "power_brake", "voltage_drop"})
"""Reasons of a lowered clock that are the hardware's own protection."""


def judge(dcmi: Dcmi, address: Address, errors: Callable[[], MemoryErrors]) -> HealthReport:
    """The worst of what was looked at; a board that does not answer has failed."""
    checks: list[HealthCheck] = []
    try:
        for check in _checks(dcmi, address, errors):
            checks.append(check)  # kept where a later call fails
    except AccelhalError as error:
        value = "not ready" if isinstance(error, DeviceTimeoutError) else type(error).__name__
        checks.append(HealthCheck("answers", HealthStatus.FAILED, value, message_of(error)))
    return HealthReport.of(checks)


def _checks(
    dcmi: Dcmi, address: Address, errors: Callable[[], MemoryErrors]
) -> Iterator[HealthCheck]:
    own = _verdict("device", partial(_number, partial(dcmi.ask_board, calls.HEALTH, address)))
    yield own
    yield from _driver_check(dcmi)
    yield from fault_checks(own.status, or_none(partial(_faults, dcmi, address)) or ())
    yield from _memory_check(errors())
    yield from _link_check(dcmi, address)
    yield from _throttle_check(dcmi, address)


def fault_checks(verdict: HealthStatus, faults: Iterable[tuple[int, str]]) -> Iterator[HealthCheck]:
    """Active faults. A code alone does not say how bad it is: the driver's verdict does."""
    gravity = verdict if verdict is HealthStatus.FAILED else HealthStatus.DEGRADED
    for code, text in faults:
        yield HealthCheck("fault", gravity, f"0x{code:08X}", text)


def _driver_check(dcmi: Dcmi) -> Iterator[HealthCheck]:
    """The driver's state; what fails in reading it is no fault of the board."""
    try:
        check = _verdict("driver", partial(_number, partial(dcmi.ask, calls.DRIVER_HEALTH)))
    except AccelhalError:
        return
    if check.status is not HealthStatus.UNKNOWN:
        yield check


def _verdict(name: str, read: Callable[[], int]) -> HealthCheck:
    try:
        number = read()
    except NotReportedError as reason:
        return HealthCheck(name, HealthStatus.UNKNOWN, None, str(reason))
    status, value = VERDICTS.get(number, (HealthStatus.UNKNOWN, f"state {number}"))
    return HealthCheck(name, status, value)


def _number(call: Callable[..., None]) -> int:
    """A number whose all ones have a meaning."""
    found = roomy(ctypes.c_uint)
    call(found)
    return int(found[0])


def _faults(dcmi: Dcmi, address: Address) -> list[tuple[int, str]]:
    """Active fault codes, each with the driver's words for it."""
    codes, count = roomy(ctypes.c_uint, _MAX_FAULTS), roomy(ctypes.c_int)
    dcmi.ask_board(calls.FAULTS, address, count, codes, ctypes.c_uint(_MAX_FAULTS))
    listed = codes[: max(0, min(count[0], _MAX_FAULTS))]
    return [(code, _fault_text(dcmi, address, code)) for code in dict.fromkeys(listed)]


def _fault_text(dcmi: Dcmi, address: Address, code: int) -> str:
    text = ctypes.create_string_buffer(_FAULT_TEXT_BYTES)
    arguments = ctypes.c_uint(code), text, ctypes.c_int(_FAULT_TEXT_BYTES)
    try:
        dcmi.ask_board(calls.FAULT_TEXT, address, *arguments)
        return text_of(text.raw)
    except (AccelhalError, NotReportedError):
        return ""  # the code was read, and says it


def _memory_check(errors: MemoryErrors) -> Iterator[HealthCheck]:
    if errors.uncorrected is not None:
        status = HealthStatus.FAILED if errors.uncorrected else HealthStatus.OK
        yield HealthCheck("ecc", status, f"{errors.uncorrected} uncorrected")
    if errors.repair_pending:
        detail = "a reset of the board isolates the bad pages"
        yield HealthCheck("page_isolation", HealthStatus.DEGRADED, "pending", detail)


def _link_check(dcmi: Dcmi, address: Address) -> Iterator[HealthCheck]:
    up = or_none(partial(hccs_status, dcmi, address))
    if up is not None:
        status = HealthStatus.OK if up else HealthStatus.DEGRADED
        yield HealthCheck("link", status, "HCCS up" if up else "HCCS not up on every port")


def _throttle_check(dcmi: Dcmi, address: Address) -> Iterator[HealthCheck]:
    reasons = or_none(partial(throttle_reasons, dcmi, address))
    if reasons is not None:
        status = HealthStatus.DEGRADED if _PROTECTION & set(reasons) else HealthStatus.OK
        yield HealthCheck("throttle", status, ", ".join(reasons) or "none")
