"""How a job uses its boards over some seconds: utilisation, memory bandwidth, transfers."""

from __future__ import annotations

from collections.abc import Iterator

from accelhal.doctor.checks.performance_jobs import job_check, judged, not_read
from accelhal.doctor.facts import Facts
from accelhal.doctor.thresholds import (
    BUSY_PERCENT,
    FULL_UTILIZATION,
    HIGH_TRANSFER,
    IDLE_SAMPLES_SHARE,
    LINK_REACHED_SHARE,
    LOW_BANDWIDTH,
    LOW_UTILIZATION,
    SERVICE_UTILIZATION,
    SOME_TRANSFER,
    WORKING_POWER_SHARE,
)
from accelhal.doctor.watching.window import BoardWindow, mean
from accelhal.facts import Finding, FindingState
from accelhal.host.pcie_rate import pcie_rate

_UTIL, _MEMBW, _TRANSFER = "perf.util", "perf.membw", "perf.transfer"


def _utilization(facts: Facts, window: BoardWindow) -> Iterator[Finding]:
    values = window.values("utilization")
    busy = mean(values)
    if busy is None:
        yield not_read(_UTIL, window, "utilisation", "utilization")
        return
    params: dict[str, str | int | float] = {"percent": round(busy)}
    if busy >= LOW_UTILIZATION:
        yield judged(_UTIL, "util.high", FindingState.OK, window, params)
        return
    idle = sum(value < BUSY_PERCENT for value in values) / len(values)
    if idle >= IDLE_SAMPLES_SHARE or busy < SERVICE_UTILIZATION:
        params["idle"] = f"{idle:.0%}"
        yield judged(_UTIL, "util.waits_for_requests", FindingState.INFO, window, params)
        return
    share = transfer_share(window)
    params["transfer"] = "not read" if share is None else f"{share:.0%} of the time"
    pids = sorted(window.pids or ())[:1]
    commands = [
        *(f"py-spy top --pid {pid}" for pid in pids),
        "accelhal doctor env.debug env.shm topo.numa",
    ]
    yield judged(_UTIL, "util.low", FindingState.WARN, window, params, commands)


def _bandwidth(facts: Facts, window: BoardWindow) -> Iterator[Finding]:
    used = window.mean("memory_bandwidth_utilization")
    if used is None:
        yield not_read(
            _MEMBW, window, "use of the memory's bandwidth", "memory_bandwidth_utilization"
        )
        return
    params: dict[str, str | int | float] = {"percent": round(used)}
    if used >= LOW_BANDWIDTH:
        # Time in which the memory was in use is more than the share of its bytes.
        if _is_time_share(facts, window):
            measure = ("accelhal doctor --measure perf.measure",)
            yield judged(_MEMBW, "membw.time_share", FindingState.INFO, window, params, measure)
        else:
            yield judged(_MEMBW, "membw.high", FindingState.OK, window, params)
    elif _works_on_little(window):
        params["power"] = f"{window.power_share or 0.0:.0%}"
        yield judged(_MEMBW, "membw.low", FindingState.WARN, window, params)
    else:
        yield judged(_MEMBW, "membw.other_work", FindingState.INFO, window, params)


def _works_on_little(window: BoardWindow) -> bool:
    """Whether it is always busy, and yet neither computes nor moves much: power tells."""
    busy, power = window.mean("utilization"), window.power_share
    if busy is None or power is None:
        return False
    return busy >= FULL_UTILIZATION and power < WORKING_POWER_SHARE


def _is_time_share(facts: Facts, window: BoardWindow) -> bool:
    backend = window.reading.board.backend
    hosts = [facts.vendor_host(spec) for spec in facts.specs if spec.name == backend]
    return any(host.bandwidth_is_time for host in hosts)


def transfer_share(window: BoardWindow) -> float | None:
    """Share of the time in which the busier direction of the PCIe link is full; None: not read."""
    shares = []
    for link in window.pcie:
        if link.received is None or link.sent is None:
            continue
        generation, lanes = link.max_generation or link.generation, link.lanes or link.max_lanes
        if generation and lanes:
            full = LINK_REACHED_SHARE * pcie_rate(generation, lanes)
            shares.append(min(1.0, max(link.received, link.sent) / full))
    return mean(shares)


def _transfers(facts: Facts, window: BoardWindow) -> Iterator[Finding]:
    share = transfer_share(window)
    if share is None:
        reasons = [link.reasons.get("received") or link.reasons.get("*") for link in window.pcie]
        params: dict[str, str | int | float] = {
            "what": "traffic over PCIe",
            "reason": next(filter(None, reasons), "the driver did not answer"),
        }
        yield judged(_TRANSFER, "watch.not_read", FindingState.UNKNOWN, window, params)
        return
    params = {"percent": f"{share:.0%}"}
    hidden = (window.mean("utilization") or 0.0) >= FULL_UTILIZATION
    if share <= SOME_TRANSFER:
        yield judged(_TRANSFER, "transfer.little", FindingState.OK, window, params)
    elif share > HIGH_TRANSFER and not hidden:
        yield judged(
            _TRANSFER,
            "transfer.much",
            FindingState.WARN,
            window,
            params,
            ("accelhal doctor --measure pcie.bandwidth", "accelhal doctor pcie.link topo.numa"),
        )
    else:
        yield judged(_TRANSFER, "transfer.some", FindingState.INFO, window, params)


UTIL = job_check(
    _UTIL,
    "whether boards with a job have work all the time",
    "the boards' utilisation",
    _utilization,
    f"Below {LOW_UTILIZATION:.0f} % the board waits for its program: for input, for the Python "
    "side, for transfers, for other boards. Where many samples show no work at all, or less than "
    f"{SERVICE_UTILIZATION:.0f} % is used, the board waits for requests, which is normal for a "
    "service with little traffic, and is told as information. A cause is named only where it was "
    "seen.",
)

MEMBW = job_check(
    _MEMBW,
    "whether boards that are always busy move or compute much",
    "use of the memories' bandwidth, and power",
    _bandwidth,
    f"Below {LOW_BANDWIDTH:.0f} % of the memory's bandwidth is a warning only where the board is "
    f"always busy and draws less than {WORKING_POWER_SHARE:.0%} of its power limit: kernels that "
    "compute much need little bandwidth. Some drivers report the share of time in which the memory "
    "was in use, not of its bytes: a low one proves low bandwidth, a high one proves nothing. Look "
    "at access patterns and the batch size.",
)

TRANSFER = job_check(
    _TRANSFER,
    "how much of the time copies fill the PCIe link",
    "traffic over the PCIe links",
    _transfers,
    f"Above {HIGH_TRANSFER:.0%} is a warning where the board waits meanwhile, above "
    f"{SOME_TRANSFER:.0%} information; copies beside work that never stops cost nothing. A link "
    f"counts as full at {LINK_REACHED_SHARE:.0%} of its line rate. Drivers sample traffic over "
    "tens of milliseconds, so this is a hint; events around the copies tell exactly. Pin the "
    "memory, copy beside the work, enlarge the batch.",
)
