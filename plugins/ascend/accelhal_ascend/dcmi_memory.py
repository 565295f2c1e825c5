"""A chip's memory: HBM of the 910 and 950, DDR of the 310P."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from accelhal.drivers.library import roomy
from accelhal.drivers.readings import NotReportedError, first, or_none
from accelhal_ascend import dcmi as calls
from accelhal_ascend.dcmi import Address, Dcmi, known
from accelhal_ascend.dcmi_structs import DdrInfo, EccInfo, HbmInfo

_DDR, _HBM = 0, 2
"""dcmi_device_type"""

_MEBIBYTE = 20
"""Bits to shift: what DCMI calls MB is 1024 * 1024 bytes (65536 of them on a 64 GiB board)."""


@dataclass(frozen=True)
class Memory:
    """One reading.

    Attributes:
        total: bytes.
        used: bytes; 3 to 4 GiB of HBM are the driver's own.
        clock: MHz.
        temperature: degrees Celsius; None where it is not read.
        bandwidth: percent; None where another call has it.
    """

    total: int
    used: int
    clock: int
    temperature: int | None = None
    bandwidth: int | None = None


def read_memory(dcmi: Dcmi, address: Address) -> Memory:
    """HBM where the chip has it, else DDR."""
    return first(partial(_hbm, dcmi, address), partial(_ddr, dcmi, address))


def _hbm(dcmi: Dcmi, address: Address) -> Memory:
    found = dcmi.read(calls.HBM, address, HbmInfo)
    return Memory(
        *sizes(found.memory_size, found.memory_usage),
        found.freq,
        or_none(partial(known, found.temp)),
        found.bandwith_util_rate,
    )


def _ddr(dcmi: Dcmi, address: Address) -> Memory:
    found = dcmi.read(calls.DDR, address, DdrInfo)
    return Memory(*sizes(found.memory_size, found.memory_size - found.memory_available), found.freq)


def sizes(total: int, used: int) -> tuple[int, int]:
    """Bytes of what the driver gives in MB.

    Raises:
        NotReportedError: they cannot be sizes of one memory.
    """
    if not 0 <= used <= total or total == 0:
        raise NotReportedError(f"the driver answered {used} MB used of {total}")
    return total << _MEBIBYTE, used << _MEBIBYTE


def read_ecc(dcmi: Dcmi, address: Address) -> EccInfo:
    """Error counts of HBM where the chip has it, else of DDR."""
    return first(partial(_ecc, dcmi, address, _HBM), partial(_ecc, dcmi, address, _DDR))


def _ecc(dcmi: Dcmi, address: Address, memory: int) -> EccInfo:
    """What an older driver does not write stays all ones, which is "no number"."""
    found = roomy(EccInfo)
    found[0].single_bit_next_isolated_pages_cnt = calls.NO_NUMBER
    found[0].double_bit_next_isolated_pages_cnt = calls.NO_NUMBER
    dcmi.ask_board(calls.ECC, address, memory, found)
    return found[0]  # type: ignore[no-any-return]
