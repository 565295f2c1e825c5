"""What a board's page of `nvidia-smi -q` says, by the names it has in XML and in text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from accelhal.drivers.printed import count
from accelhal.drivers.readings import in_range, or_none
from accelhal.facts import BoardDetails, PcieLink, Telemetry
from accelhal_cuda.evidence import words
from accelhal_cuda.evidence.pages import Page, value
from accelhal_cuda.evidence.query_health import throttle_reasons

_Figures = Mapping[str, tuple[Callable[[str], Any], Sequence[str]]]
"""Field -> how its word is read, and the paths where it may stand, newest release first."""

_IDENTITY: _Figures = {
    "name": (words.name, ("product_name", "Product Name")),
    "uuid": (words.uuid, ("uuid", "GPU UUID")),
    "serial": (
        words.spelled(r"[0-9A-Za-z-]{1,32}"),
        ("serial", "Serial Number"),
    ),
    "memory_total": (
        words.memory,
        ("fb_memory_usage/total", "FB Memory Usage/Total", "Shared FB Memory Usage/Total"),
    ),
}

_TELEMETRY: _Figures = {
    "temperature": (words.celsius, ("temperature/gpu_temp", "Temperature/GPU Current Temp")),
    "memory_temperature": (
        words.celsius,
        ("temperature/memory_temp", "Temperature/Memory Current Temp"),
    ),
    "power": (
        words.watts,
        (
            "gpu_power_readings/average_power_draw",
            "gpu_power_readings/power_draw",
            "gpu_power_readings/instant_power_draw",
            "power_readings/power_draw",
            "GPU Power Readings/Average Power Draw",
            "GPU Power Readings/Power Draw",
            "GPU Power Readings/Instantaneous Power Draw",
            "Power Readings/Power Draw",
        ),
    ),
    "power_limit": (
        words.watts,
        (
            "gpu_power_readings/current_power_limit",
            "power_readings/enforced_power_limit",
            "GPU Power Readings/Current Power Limit",
            "Power Readings/Enforced Power Limit",
        ),
    ),
    "utilization": (
        words.percent,
        ("utilization/gpu_util", "Utilization/GPU", "Utilization/Gpu"),
    ),
    "memory_bandwidth_utilization": (
        words.percent,
        ("utilization/memory_util", "Utilization/Memory"),
    ),
    "core_clock": (words.megahertz, ("clocks/sm_clock", "Clocks/SM")),
    "memory_clock": (words.megahertz, ("clocks/mem_clock", "Clocks/Memory")),
    "memory_used": (
        words.memory,
        ("fb_memory_usage/used", "FB Memory Usage/Used", "Shared FB Memory Usage/Used"),
    ),
    "memory_total": _IDENTITY["memory_total"],
}

_DETAILS: _Figures = {
    "part_number": (
        words.spelled(r"[\w.-]{1,40}"),
        ("board_part_number", "Board Part Number"),
    ),
    "firmware": (
        words.spelled(r"[0-9A-Fa-f]{2}(\.[0-9A-Fa-f]{2}){4}"),
        ("vbios_version", "VBIOS Version"),
    ),
    "node": (count, ("minor_number", "Minor Number")),
    # Thresholds of T.Limit are margins that are left, and no temperatures.
    "slowdown_temperature": (
        words.celsius,
        ("temperature/gpu_temp_slow_threshold", "Temperature/GPU Slowdown Temp"),
    ),
    "shutdown_temperature": (
        words.celsius,
        ("temperature/gpu_temp_max_threshold", "Temperature/GPU Shutdown Temp"),
    ),
    "default_power_limit": (
        words.watts,
        (
            "gpu_power_readings/default_power_limit",
            "power_readings/default_power_limit",
            "GPU Power Readings/Default Power Limit",
            "Power Readings/Default Power Limit",
        ),
    ),
    "max_core_clock": (words.megahertz, ("max_clocks/sm_clock", "Max Clocks/SM")),
    "max_memory_clock": (words.megahertz, ("max_clocks/mem_clock", "Max Clocks/Memory")),
    "ecc": (words.enabled, ("ecc_mode/current_ecc", "ECC Mode/Current")),
    "persistence": (words.enabled, ("persistence_mode", "Persistence Mode")),
    "compute_mode": (words.compute_mode, ("compute_mode", "Compute Mode")),
    "partitioned": (words.enabled, ("mig_mode/current_mig", "MIG Mode/Current")),
    "fabric": (words.spelled(r"[A-Z][A-Za-z ]{2,30}"), ("fabric/state", "Fabric/State")),
}

_XML_LINK = "pci/pci_gpu_link_info"
_TEXT_LINK = "PCI/GPU Link Info"

_PCIE: _Figures = {
    "generation": (
        count,
        (f"{_XML_LINK}/pcie_gen/current_link_gen", f"{_TEXT_LINK}/PCIe Generation/Current"),
    ),
    "max_generation": (
        count,
        (f"{_XML_LINK}/pcie_gen/max_link_gen", f"{_TEXT_LINK}/PCIe Generation/Max"),
    ),
    "lanes": (
        words.lanes,
        (f"{_XML_LINK}/link_widths/current_link_width", f"{_TEXT_LINK}/Link Width/Current"),
    ),
    "max_lanes": (
        words.lanes,
        (f"{_XML_LINK}/link_widths/max_link_width", f"{_TEXT_LINK}/Link Width/Max"),
    ),
    "replays": (count, ("pci/replay_counter", "PCI/Replays Since Reset")),
    "received": (words.rate, ("pci/rx_util", "PCI/Rx Throughput")),
    "sent": (words.rate, ("pci/tx_util", "PCI/Tx Throughput")),
}


def identity(page: Page) -> dict[str, Any]:
    """Name (empty where it is not said), UUID, serial number and memory of a board."""
    found = {field: or_none(reader) for field, reader in _readers(page, _IDENTITY).items()}
    return {
        "name": found["name"] or "",
        "uuid": found["uuid"],
        "serial": found["serial"],
        "total_memory": found["memory_total"],
    }


def telemetry(page: Page) -> Telemetry | None:
    """The sensors."""
    readers = _readers(page, _TELEMETRY)
    return words.gathered(
        Telemetry, {**readers, "throttle_reasons": partial(throttle_reasons, page)}
    )


def details(page: Page) -> BoardDetails | None:
    """What changes seldom."""
    return words.gathered(BoardDetails, _readers(page, _DETAILS))


def pcie(page: Page) -> PcieLink | None:
    """The link to the host."""
    return words.gathered(PcieLink, _readers(page, _PCIE))


def _readers(page: Page, figures: _Figures) -> dict[str, Callable[[], Any]]:
    return {
        field: partial(_ranged, page, field, read, paths)
        for field, (read, paths) in figures.items()
    }


def _ranged(page: Page, field: str, read: Callable[[str], Any], paths: Sequence[str]) -> Any:
    """The first word that is a value, and one that the field can have."""
    return value(page, paths, lambda text: in_range(field, read(text)))
