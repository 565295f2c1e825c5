"""Links of a chip: HCCS ports, A3's link between dies, UB ports of the 950, and PCIe."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Mapping
from functools import partial

from accelhal.drivers.library import roomy
from accelhal.drivers.readings import NotReportedError, or_none
from accelhal.facts import BoardKey, Link, Relation
from accelhal.host import Host, pci
from accelhal_ascend import dcmi as calls
from accelhal_ascend.dcmi import Address, Dcmi, known
from accelhal_ascend.dcmi_boards import Board
from accelhal_ascend.dcmi_structs import (
    HccsCounters,
    HccsLanes,
    HccsStatus,
    PcieErrors,
    SioErrors,
    UbPorts,
    WideHccsCounters,
)

_HCCS_STATUS, _HCCS_LANES = (16, 0), (16, 1)
_HCCS_COUNTERS, _WIDE_HCCS_COUNTERS = (16, 3), (16, 5)
_PCIE_ERRORS, _SIO_ERRORS = (55, 1), (56, 0)
"""Main and sub command of dcmi_get_device_info."""

_PCS_UP, _HDLC_UP = 0, 3

_NO_UB_NEEDED = 3
"""dcmi_entire_ub_status"""

_UB_STATES = {0: False, 1: True, 2: True}
"""dcmi_ub_port_status: no lane, all lanes, some lanes; 3 is starting."""

_RELATIONS = {
    0: Relation.BOARD,
    1: Relation.SYS,
    2: Relation.PHB,
    3: Relation.LINK,
    4: Relation.PXB,
    5: Relation.PIX,
}
_A3_RELATIONS = {6: Relation.BOARD, 7: Relation.LINK}
_UB_RELATIONS = {8: Relation.LINK}
"""DCMI_TOPO_TYPE_*. "Unknown" was 6, then 8, then 9: the last three count only where they exist."""

RELATIONS = {**_RELATIONS, **_A3_RELATIONS, **_UB_RELATIONS}
"""All of them."""

_PCIE_SPEEDS = {"2.5": 1, "5.0": 2, "8.0": 3, "16.0": 4, "32.0": 5, "64.0": 6}
"""GT/s of a lane, as the kernel writes it -> PCIe generation."""


def links(dcmi: Dcmi, board: Board, brother: BoardKey | None) -> Iterator[Link]:
    """The chip's links; DCMI names no peers, but the other die of an A3 card is known."""
    yield from _ub_ports(dcmi, board.address) if dcmi.v2 else _hccs_ports(dcmi, board.address)
    if board.a3:
        errors = or_none(partial(dcmi.info, board.address, _SIO_ERRORS, SioErrors))
        if errors is not None:
            counts = {"tx_crc": errors.tx_error_count, "rx_crc": errors.rx_error_count}
            yield Link(kind="SIO", peer=brother, errors=counts)


def hccs_status(dcmi: Dcmi, address: Address) -> bool:
    """Whether all HCCS ports of the chip are up."""
    found = dcmi.info(address, _HCCS_STATUS, HccsStatus)
    return bool(found.pcs_status == _PCS_UP and found.hdlc_status == _HDLC_UP)


def _hccs_ports(dcmi: Dcmi, address: Address) -> Iterator[Link]:
    """One link a port that the board uses for HCCS; a board that does not say has none."""
    lanes = or_none(partial(dcmi.info, address, _HCCS_LANES, HccsLanes))
    if lanes is None:
        return
    all_up = or_none(partial(hccs_status, dcmi, address))
    counters = or_none(partial(_hccs_counters, dcmi, address))
    used = [n for n in range(len(lanes.pcs_lane_bitmap)) if lanes.hccs_port_pcs_bitmap >> n & 1]
    # The lanes of the ports in use stand one after the other.
    for place, port in enumerate(used):
        width = lanes.pcs_lane_bitmap[place].bit_count()
        yield Link(
            kind="HCCS",
            peer=None,
            up=False if width == 0 else (True if all_up else None),
            lanes=width,
            number=port,
            errors={} if counters is None else _errors_of(counters, port),
        )


def _hccs_counters(dcmi: Dcmi, address: Address) -> HccsCounters | WideHccsCounters:
    try:
        return dcmi.info(address, _WIDE_HCCS_COUNTERS, WideHccsCounters)
    except NotReportedError:
        return dcmi.info(address, _HCCS_COUNTERS, HccsCounters)


def _errors_of(counters: HccsCounters | WideHccsCounters, port: int) -> Mapping[str, int]:
    return {"crc": counters.crc_err_cnt[port], "retry": counters.retry_cnt[port]}


def _ub_ports(dcmi: Dcmi, address: Address) -> Iterator[Link]:
    found = or_none(partial(dcmi.read, calls.UB_PORTS, address, UbPorts))
    if found is None or found.ub_link_status == _NO_UB_NEEDED:
        return
    for port, state in enumerate(found.ub_port_status):
        yield Link(kind="UB", peer=None, up=_UB_STATES.get(state), number=port)


def relation(dcmi: Dcmi, one: Board, other: Board) -> Relation | None:
    """How near two chips are; None where the driver's number means "unknown" or nothing."""
    found = roomy(ctypes.c_int)
    places = (*dcmi.numbers(one.address), *dcmi.numbers(other.address))
    try:
        dcmi.ask(calls.RELATION, *places, found)
    except NotReportedError:
        return None
    special = _UB_RELATIONS if dcmi.v2 else _A3_RELATIONS if one.a3 and other.a3 else {}
    return {**_RELATIONS, **special}.get(found[0])


def pcie_generation(host: Host, board: Board, which: str) -> int:
    """PCIe generation of the "current" or the "max" speed that the kernel shows."""
    speed = re.match(r"[\d.]+", _attribute(host, board, f"{which}_link_speed"))
    generation = _PCIE_SPEEDS.get(speed[0]) if speed else None
    if generation is None:
        raise NotReportedError("the kernel's link speed is of no known generation")
    return generation


def pcie_lanes(host: Host, board: Board, which: str) -> int:
    """Lanes of the "current" or the "max" width that the kernel shows."""
    text = _attribute(host, board, f"{which}_link_width")
    if not re.fullmatch(r"\d{1,3}", text):
        raise NotReportedError(f"the kernel shows {text!r} lanes")
    return int(text)


def _attribute(host: Host, board: Board, name: str) -> str:
    """DCMI has no call for the link: the kernel's file of the board."""
    if board.info.pci is None:
        raise NotReportedError("the driver gives no PCI address to look under")
    path = f"{pci.BUS}/{board.info.pci}/{name}"
    text = host.read_text(path)
    if text is None:
        raise NotReportedError(f"{path} cannot be read")
    return text.strip()


def pcie_replays(dcmi: Dcmi, address: Address) -> int:
    """Packets sent again."""
    return known(dcmi.info(address, _PCIE_ERRORS, PcieErrors).retry_cnt)
