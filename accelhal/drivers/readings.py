"""From driver calls to a dataclass of facts: each figure in its range, or None with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, Generic, TypeVar

Facts = TypeVar("Facts")
Answer = TypeVar("Answer")

NO_SOURCE = "the driver library does not report it"

_TEMPERATURE = (-40, 150)
_WATTS = (0, 5000)
_PERCENT = (0, 100)
_MHZ = (0, 30_000)
_COUNT = (0, (1 << 63) - 1)

RANGES: Mapping[str, tuple[float, float]] = {
    "temperature": _TEMPERATURE,
    "memory_temperature": _TEMPERATURE,
    "slowdown_temperature": _TEMPERATURE,
    "shutdown_temperature": _TEMPERATURE,
    "power": _WATTS,
    "power_limit": _WATTS,
    "default_power_limit": _WATTS,
    "utilization": _PERCENT,
    "memory_bandwidth_utilization": _PERCENT,
    "core_clock": _MHZ,
    "memory_clock": _MHZ,
    "max_core_clock": _MHZ,
    "max_memory_clock": _MHZ,
    "memory_used": (0, 1 << 50),
    "memory_total": (1, 1 << 50),
    "generation": (1, 9),
    "max_generation": (1, 9),
    "lanes": (1, 32),
    "max_lanes": (1, 32),
    "received": (0, 1e12),
    "sent": (0, 1e12),
    "replays": _COUNT,
    "corrected": _COUNT,
    "uncorrected": _COUNT,
    "corrected_total": _COUNT,
    "uncorrected_total": _COUNT,
    "repaired": _COUNT,
}
"""Field -> the range of its unit. What lies outside is another unit, or the driver's "no value"."""


class NotReportedError(Exception):
    """The driver has no such figure here; the message is the reason."""


def collect(kind: type[Facts], readers: Mapping[str, Callable[[], Any]]) -> Facts:
    """An instance of a facts class, each field read by the function of its name.

    A field without a reader, or whose reader raises NotReportedError, is None with its reason.
    What else a reader raises means that the board or the library failed, and goes through.
    """
    values: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    for name, limits in _figures(kind):  # type: ignore[arg-type]
        reader = readers.get(name)
        if reader is None:
            reasons[name] = NO_SOURCE
            continue
        try:
            value = reader()
        except NotReportedError as reason:
            reasons[name] = str(reason)
            continue
        if value is None:
            reasons[name] = NO_SOURCE
        elif limits is None or limits[0] <= value <= limits[1]:  # NaN is in no range
            values[name] = value
        else:
            reasons[name] = _out_of_range(name, value)
    used, total = values.get("memory_used"), values.get("memory_total")
    if used is not None and total is not None and used > total:
        del values["memory_used"]
        reasons["memory_used"] = f"{used} bytes in use of {total}: one of the two is wrong"
    return kind(**values, reasons=reasons)  # type: ignore[call-arg]


@cache
def _figures(kind: type[Any]) -> tuple[tuple[str, tuple[float, float] | None], ...]:
    """Name and range of each figure of a facts class."""
    return tuple((f.name, RANGES.get(f.name)) for f in fields(kind) if f.name != "reasons")


def in_range(name: str, value: Any) -> Any:
    """The value, if it is one that the field of that name can have.

    Raises:
        NotReportedError: it is outside the range of the field's unit.
    """
    limits = RANGES.get(name)
    if limits is None or limits[0] <= value <= limits[1]:  # NaN is in no range
        return value
    raise NotReportedError(_out_of_range(name, value))


def _out_of_range(name: str, value: float) -> str:
    return f"the driver answered {value:g}, which is no {name}"


def first(*readers: Callable[[], Answer]) -> Answer:
    """The first reader's answer that is there: releases and chips differ in their names for it.

    Raises:
        NotReportedError: none has it; every reason.
    """
    reasons = []
    for reader in readers:
        try:
            return reader()
        except NotReportedError as reason:
            reasons.append(str(reason))
    raise NotReportedError("; ".join(dict.fromkeys(reasons)))


def or_none(reader: Callable[[], Answer]) -> Answer | None:
    """The reader's answer, or None where there is none."""
    try:
        return reader()
    except NotReportedError:
        return None


def bus_address(domain: int, bus: int, device: int, function: int) -> str:
    """domain:bus:device.function as the kernel writes it.

    Raises:
        NotReportedError: a number is none that PCI has.
    """
    limits = ((domain, 1 << 31), (bus, 1 << 8), (device, 1 << 5), (function, 1 << 3))
    if not all(0 <= number < limit for number, limit in limits):
        raise NotReportedError(f"{domain:x}:{bus:x}:{device:x}.{function:x} is no PCI address")
    return f"{domain:04x}:{bus:02x}:{device:02x}.{function:x}"


class Once(Generic[Answer]):
    """A reader that asks the driver once, for figures that come with one call."""

    def __init__(self, reader: Callable[[], Answer]) -> None:
        self._reader = reader
        self._answer: list[Answer] = []
        self._reason: NotReportedError | None = None

    def __call__(self) -> Answer:  # noqa: D102  (the class says it)
        if self._reason is not None:
            raise self._reason
        if not self._answer:
            try:
                self._answer.append(self._reader())
            except NotReportedError as reason:
                self._reason = reason
                raise
        return self._answer[0]
