"""What one block of values says of its chip: which key is a figure of which field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from accelhal.drivers.printed import MEBIBYTE, count, not_shown, number, pci_address, shown, word
from accelhal.drivers.readings import NotReportedError, first, or_none
from accelhal.facts import (
    BoardDetails,
    BoardReading,
    HealthCheck,
    HealthReport,
    HealthStatus,
    MemoryErrors,
    Telemetry,
)
from accelhal_ascend.dcmi import NO_NUMBER
from accelhal_ascend.dcmi_boards import die_uuid, full_name
from accelhal_ascend.dcmi_figures import CARD_FIGURE
from accelhal_ascend.evidence.chips import chip, health
from accelhal_ascend.evidence.key_values import CHIP, COUNT, ERROR_TEXTS, NAME, NPU, Block

Facts = TypeVar("Facts")
Readers = dict[str, Callable[[], Any]]

SOFTWARE, FIRMWARE = "Software Version", "Firmware Version"
SERIAL, MODEL = "Serial Number", "Model"
DDIE = "DDie ID"
DIES = (DDIE, "VDie ID", "Die ID")
HEALTH = ("Health", "Health Status")
ERRORS = "Error Code"
TEMPERATURES = ("NPU Temperature (C)", "Temperature (C)", "Temperature(C)")
POWERS = ("NPU Real-time Power(W)", "Power Dissipation(W)")
RATED_CLOCK, CLOCK = "Aicore Freq(MHZ)", "Aicore curFreq(MHZ)"
HBM_TEMPERATURE = "HBM Temperature(C)"
MEMORY_CLOCKS = ("HBM Clock Speed(MHz)", "DDR Clock Speed(MHz)", "Clock Speed(MHz)")
BANDWIDTHS = (
    "HBM Bandwidth Usage Rate(%)",
    "DDR Bandwidth Usage Rate(%)",
    "Memory Bandwidth Usage Rate(%)",
)
"""Of HBM where the chip has it: 910B and later print 0 of DDR."""

_BUS, _NPU_NAME = "PCIe Bus Info", "NPU Name"
_UTILIZATIONS = ("NPU Utilization(%)", "Aicore Usage Rate(%)")
_CAPACITIES = ("HBM Capacity(MB)", "DDR Capacity(MB)", "Memory Capacity(MB)", "Capacity(MB)")
_USE_RATES = ("HBM Usage Rate(%)", "DDR Usage Rate(%)", "Memory Usage Rate(%)")

_ECC = {
    "corrected": ("Single Bit Error Count",),
    "uncorrected": ("Double Bit Error Count",),
    "corrected_total": ("Single Bit Aggregate Total Err Cnt",),
    "uncorrected_total": ("Double Bit Aggregate Total Err Cnt",),
    "repaired": ("Single Bit Isolated Pages Count", "Double Bit Isolated Pages Count"),
    "repair_pending": (
        "Single Bit Next-Isolated Pages Count",
        "Double Bit Next-Isolated Pages Count",
    ),
}
"""Field -> the ends of the keys that are summed; they begin "HBM " or "DDR "."""

OLD_ECC = {"Single-bit Error Count": "corrected", "Double-bit Error Count": "uncorrected"}
"""The keys of the 310."""

READ = frozenset(
    {
        *(NPU, COUNT, CHIP, NAME, SOFTWARE, FIRMWARE, SERIAL, MODEL, _BUS, _NPU_NAME),
        *(*DIES, *HEALTH, ERRORS, ERROR_TEXTS, *TEMPERATURES, HBM_TEMPERATURE, *POWERS),
        *(*_UTILIZATIONS, RATED_CLOCK, CLOCK, *_CAPACITIES, *MEMORY_CLOCKS, *BANDWIDTHS),
        *OLD_ECC,
        *(f"HBM {end}" for ends in _ECC.values() for end in ends),
        *(f"DDR {end}" for ends in _ECC.values() for end in ends),
    }
)
"""Every key that is read where it stands."""

_WORDS_OF_DIE = 5


@dataclass(frozen=True)
class ChipBlock:
    """A block, asked for the facts of its chip.

    Attributes:
        page: the command that prints it.
        block: its values.
    """

    page: str
    block: Block

    def reading(self, card: int, place: int) -> BoardReading:
        """All of it, for a chip of a card."""
        values = self.block.values
        sensors = self._facts(Telemetry, self._sensors(place))
        found = self.block.processes
        return BoardReading(
            board=chip(
                card,
                place,
                name=self.name,
                # The 950 has no cards: its dev_id is the driver's number.
                index=card if DDIE in values and CHIP not in values else None,
                uuid=self.uuid,
                pci=self.pci,
                total_memory=None if sensors is None else sensors.memory_total,
            ),
            details=self.details(firmware=FIRMWARE, max_core_clock=RATED_CLOCK),
            telemetry=sensors,
            health=self._health(),
            memory_errors=self._facts(MemoryErrors, self._errors()),
            processes=None if found is None else tuple(found),
        )

    @property
    def name(self) -> str:
        """The chip's, or "" where the block does not tell it."""
        found = or_none(partial(word, self.block.values.get(NAME, "")))
        return "" if found is None else full_name(found, self.block.values.get(_NPU_NAME, ""))

    @property
    def uuid(self) -> str | None:
        """The die's number."""
        text = next((self.block.values[key] for key in DIES if key in self.block.values), "")
        words = text.split()
        if len(words) != _WORDS_OF_DIE or any(len(part) != 8 for part in words):
            return None
        try:
            numbers = [int(part, 16) for part in words]
        except ValueError:
            return None
        return or_none(partial(die_uuid, numbers))

    @property
    def pci(self) -> str | None:
        """The address that the block tells."""
        return or_none(partial(pci_address, self.block.values.get(_BUS, "")))

    def details(self, **keys: str) -> BoardDetails | None:
        """What changes seldom, from these keys."""
        values = self.block.values
        readers: Readers = {
            field: partial(number if key == RATED_CLOCK else word, values[key])
            for field, key in keys.items()
            if key in values
        }
        return self._facts(BoardDetails, readers)

    def _facts(self, kind: type[Facts], readers: Readers) -> Facts | None:
        """Those of a kind, or None where the block has no such figure."""
        return shown(kind, readers, self.page) if readers else None

    def _present(self, keys: Sequence[str]) -> list[str]:
        return [key for key in keys if key in self.block.values]

    def _of_memory(self, keys: Sequence[str]) -> list[str]:
        """Those of the keys that the block has, of HBM alone where there is one of it."""
        present = self._present(keys)
        return [key for key in present if key.startswith("HBM ")] or present

    def _sensors(self, place: int) -> Readers:
        values = self.block.values
        keys: Mapping[str, Sequence[str]] = {
            "temperature": TEMPERATURES,
            "memory_temperature": (HBM_TEMPERATURE,),
            "power": POWERS,
            "utilization": _UTILIZATIONS,
            "memory_bandwidth_utilization": self._of_memory(BANDWIDTHS),
            "core_clock": (CLOCK,),
            "memory_clock": self._of_memory(MEMORY_CLOCKS),
        }
        readers: Readers = {
            field: partial(first, *(partial(number, values[key]) for key in present))
            for field, names in keys.items()
            if (present := self._present(names))
        }
        if place > 0 and "power" in readers:
            readers["power"] = _power_of_the_card
        if capacities := self._present(_CAPACITIES):
            readers["memory_total"] = partial(_capacity, [values[key] for key in capacities])
        if self._present(_USE_RATES):
            readers["memory_used"] = _rate_of_use
        return readers

    def _errors(self) -> Readers:
        """Those of HBM where the chip has it, else of DDR."""
        values = self.block.values
        kind = "HBM " if f"HBM {_ECC['corrected'][0]}" in values else "DDR "
        readers: Readers = {
            field: partial(_sum, [values[kind + end] for end in ends])
            for field, ends in _ECC.items()
            if all(kind + end in values for end in ends)
        }
        for key, field in OLD_ECC.items():
            if key in values:
                readers[field] = partial(_sum, [values[key]])
        if "repair_pending" in readers:
            waiting = readers["repair_pending"]
            readers["repair_pending"] = lambda: bool(waiting())
        return readers

    def _health(self) -> HealthReport | None:
        verdict = next((self.block.values[key] for key in HEALTH if key in self.block.values), None)
        if verdict is None:
            return None
        told = self.block.values.get(ERRORS, "NA")
        if told == "NA":
            return health(verdict)
        codes = _codes(told)
        if codes is None:
            detail = f"the tool prints {told[:40]!r}"
            unknown = HealthCheck("fault", HealthStatus.UNKNOWN, None, detail)
            return HealthReport.of([*health(verdict).checks, unknown])
        texts = self.block.texts if len(self.block.texts) == len(codes) else [""] * len(codes)
        return health(verdict, zip(codes, texts, strict=True))


def _power_of_the_card() -> float:
    raise NotReportedError(CARD_FIGURE)


def _rate_of_use() -> int:
    raise NotReportedError("the tool prints it in whole percent of the capacity, not in MB")


def _capacity(texts: Sequence[str]) -> int:
    """Bytes of the first memory that the chip has: it has 0 MB of the other kind."""
    sizes = [count(text) for text in texts]
    size = next((size for size in sizes if size), None)
    if size is None:
        raise not_shown(texts[0])
    return size * MEBIBYTE


def _sum(texts: Sequence[str]) -> int:
    counts = [count(text) for text in texts]
    if NO_NUMBER in counts:
        raise not_shown(str(NO_NUMBER))
    return sum(counts)


def _codes(text: str) -> list[int] | None:
    """Fault codes, printed as hexadecimal numbers of 32 bits."""
    words = text.split()
    if not words or any(len(code) > 8 or not code.isalnum() for code in words):
        return None
    try:
        return [int(code, 16) for code in words]
    except ValueError:
        return None
