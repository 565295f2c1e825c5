"""Which boards there are: chips of cards, or dev_ids; their names, keys and slices."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from accelhal.drivers.library import roomy
from accelhal.drivers.readings import NotReportedError, bus_address, first, in_range, or_none
from accelhal.errors import AccelhalError, DeviceError, described
from accelhal.facts import BoardInfo, BoardKey, KeySource
from accelhal.host import Host, pci
from accelhal_ascend import dcmi as calls
from accelhal_ascend.dcmi import SOURCE, Address, Dcmi, Function, text_of
from accelhal_ascend.dcmi_memory import read_memory
from accelhal_ascend.dcmi_structs import BoardIds, ChipInfo, DieId, Label, OldPcieInfo, PcieInfo

KEYED_BY: tuple[KeySource, ...] = ("logic-id", "uuid", "pci")
"""What keys are made of, best first. The driver's number is all that torch's numbers can be traced
to: what torch_npu calls a UUID is made from a network address, and DCMI does not report it."""

_MAX_BOARDS = 64
"""DCMI lists at most so many cards or chips."""

_NPU, _MCU, _CPU = 0, 1, 2
"""dcmi_unit_type"""

_VDIE, _DDIE = 1, 2
"""dcmi_die_type"""

_A3_BOARDS = frozenset({0xB0, 0xB1, 0xB2, 0xB3, 0xB4, 0x81, 0x83, 0xD1, 0xD3})
"""board_id of Atlas A3, by which Ascend's mind-cluster tells it from the 910B of the same name."""

_NO_NUMBERS = Function("dcmi_get_device_num_in_card", None)
_UNITS = Function("dcmi_get_device_id_in_card", None)


@dataclass(frozen=True)
class Board:
    """A chip, or a slice of one, and where DCMI has it.

    Attributes:
        info: what is known of it.
        address: the chip.
        a3: whether it is one of the two chips of an Atlas A3 card.
        vnpu: the driver's number of the slice; None for a whole chip.
    """

    info: BoardInfo
    address: Address
    a3: bool = False
    vnpu: int | None = None

    @property
    def shares_card(self) -> bool:
        """Whether what is the card's was reported with the first chip already."""
        return self.a3 and self.address.chip > 0


def list_boards(dcmi: Dcmi, host: Host) -> list[Board]:
    """The chips of the host, each under a key of its own.

    Raises:
        DeviceError: the driver does not list them.
    """
    found: list[Board] = []
    used: set[BoardKey] = set()
    try:
        places = list(addresses(dcmi))
    except NotReportedError as error:
        raise DeviceError(
            f"npu: the driver does not list its boards: {error}",
            backend="npu",
            operation="boards",
            hint="npu-smi info shows whether driver and boards are well",
        ) from None
    for address in places:
        board = _board(dcmi, address, host, used)
        assert board.info.key is not None, "every address makes one"
        used.add(board.info.key)
        found.append(board)
    return found


def addresses(dcmi: Dcmi) -> Iterator[Address]:
    """Where the chips are; the MCU beside them is no board."""
    if dcmi.v2:
        numbers = _listed(dcmi, "dcmiv2_get_device_list", list_first=True)
        candidates = [Address(0, number) for number in numbers]
    else:
        cards = first(
            partial(_listed, dcmi, "dcmi_get_card_list"),
            partial(_listed, dcmi, "dcmi_get_card_num_list"),
        )
        candidates = [Address(card, chip) for card in cards for chip in _chips(dcmi, card)]
    for address in dict.fromkeys(candidates):
        if _unit_type(dcmi, address) not in (_MCU, _CPU):
            yield address


def _listed(dcmi: Dcmi, name: str, list_first: bool = False) -> list[int]:
    numbers, count = roomy(ctypes.c_int, _MAX_BOARDS), roomy(ctypes.c_int)
    outputs = (numbers, count) if list_first else (count, numbers)
    dcmi.library.call(name, *outputs, ctypes.c_int(_MAX_BOARDS))
    return [number for number in numbers[: max(0, min(count[0], _MAX_BOARDS))] if number >= 0]


def _chips(dcmi: Dcmi, card: int) -> Sequence[int]:
    """Numbers of a card's chips; the first alone where the card does not say."""
    count, highest, mcu, cpu = (roomy(ctypes.c_int) for _ in range(4))
    try:
        dcmi.ask(_NO_NUMBERS, card, count)
        total = count[0]
    except (AccelhalError, NotReportedError):
        total = 1
    try:
        dcmi.ask(_UNITS, card, highest, mcu, cpu)
        others = {mcu[0], cpu[0]}
    except (AccelhalError, NotReportedError):
        others = set()
    return [chip for chip in range(max(0, min(total, _MAX_BOARDS))) if chip not in others]


def _unit_type(dcmi: Dcmi, address: Address) -> int:
    """What is at the address; a chip where that cannot be read."""
    try:
        return dcmi.number(calls.DEVICE_TYPE, address)
    except (AccelhalError, NotReportedError):
        return _NPU


def _board(dcmi: Dcmi, address: Address, host: Host, used: set[BoardKey]) -> Board:
    """The board at the address; one that does not answer is listed by its address alone."""
    index: int | None = None
    uuid: str | None = None
    bus: str | None = None
    try:
        index = or_none(partial(logic_id, dcmi, address))
        uuid = or_none(partial(_uuid, dcmi, address))
        bus = or_none(partial(pci_address, dcmi, address))
        info = BoardInfo(
            key=_key(address, index, uuid, bus, used),
            vendor="Huawei",
            name=or_none(partial(_name, dcmi, address)) or "Ascend",
            backend="npu",
            source=SOURCE,
            index=index,
            uuid=uuid,
            serial=or_none(lambda: text_of(label(dcmi, address).serial_number)),
            pci=bus,
            total_memory=or_none(
                lambda: in_range("memory_total", read_memory(dcmi, address).total)
            ),
            numa_node=None if bus is None else pci.numa_node(host, bus),
            driver=None if bus is None else host.link_name(f"{pci.BUS}/{bus}/driver"),
            tool_id=_tool_id(dcmi, address),
        )
        return Board(info, address, _is_a3(dcmi, address))
    except AccelhalError as error:
        key = _key(address, index, uuid, bus, used)
        name = f"a board that does not answer: {described(error)}"
        info = BoardInfo(
            key,
            "Huawei",
            name,
            "npu",
            SOURCE,
            index=index,
            uuid=uuid,
            pci=bus,
            tool_id=_tool_id(dcmi, address),
        )
        return Board(info, address)


def _tool_id(dcmi: Dcmi, address: Address) -> str:
    """What npu-smi calls the chip: NPU and chip; an Ascend 950 has no chips in its NPUs."""
    return f"{address.chip}.0" if dcmi.v2 else f"{address.card}.{address.chip}"


def _key(
    address: Address, index: int | None, uuid: str | None, bus: str | None, used: set[BoardKey]
) -> BoardKey:
    """The best name that no other board has."""
    unanswering = BoardKey("npu", "logic-id", f"card{address.card}.{address.chip}")
    return next((name for name in keys(index, uuid, bus) if name not in used), unanswering)


def keys(index: int | None, uuid: str | None, bus: str | None) -> Iterator[BoardKey]:
    """The keys that a board with these names can have, best first."""
    values = (None if index is None else str(index), uuid, bus)
    for source, value in zip(KEYED_BY, values, strict=True):
        if value is not None:
            yield BoardKey("npu", source, value)


def aliases(board: Board) -> Iterator[BoardKey]:
    """Every key that names the board."""
    info = board.info
    if info.key is not None:
        yield info.key
    yield from keys(info.index, info.uuid, info.pci if board.vnpu is None else None)


def logic_id(dcmi: Dcmi, address: Address) -> int:
    """The driver's number of the chip, which ASCEND_RT_VISIBLE_DEVICES counts in."""
    if dcmi.v2:
        return address.chip
    number = roomy(ctypes.c_int)
    dcmi.library.call("dcmi_get_device_logic_id", number, *address)
    if number[0] < 0:
        raise NotReportedError(f"the driver numbers the chip {number[0]}")
    return int(number[0])


def label(dcmi: Dcmi, address: Address) -> Label:
    """The electronic label: the card's, or the chip's where cards have none."""
    of_chip: Callable[[], Label] = partial(dcmi.read, calls.LABEL, address, Label)
    return of_chip() if dcmi.v2 else first(partial(_card_label, dcmi, address.card), of_chip)


def _card_label(dcmi: Dcmi, card: int) -> Label:
    found = roomy(Label)
    dcmi.library.call("dcmi_get_card_elabel_v2", card, found)
    return found[0]  # type: ignore[no-any-return]


def _name(dcmi: Dcmi, address: Address) -> str:
    """The chip's name ("910B3"); of A3, where it is short, with the model ("Ascend910_9382")."""
    chip: ChipInfo = first(
        partial(dcmi.read, calls.CHIP, address, ChipInfo),
        partial(dcmi.read, calls.OLD_CHIP, address, ChipInfo),
    )
    return full_name(text_of(chip.chip_name), or_none(partial(text_of, chip.npu_name)) or "")


def full_name(chip: str, model: str) -> str:
    """A chip's name with the model where that alone tells it from others."""
    return f"{chip}_{model}" if re.fullmatch(r"\d{4}", model, re.ASCII) else chip


def _uuid(dcmi: Dcmi, address: Address) -> str:
    """The die's number in the spelling of Ascend's own exporters."""
    words: Any = dcmi.read(calls.DIE, address, DieId, _DDIE if dcmi.v2 else _VDIE).soc_die
    return die_uuid(words)


def die_uuid(words: Sequence[int]) -> str:
    """The text of a die's five words.

    Raises:
        NotReportedError: they are blank.
    """
    if set(words) in ({0}, {calls.NO_NUMBER}):
        raise NotReportedError("the die has no number")
    return "-".join(f"{word:08X}" for word in words)


def pci_address(dcmi: Dcmi, address: Address) -> str:
    """domain:bus:device.function as the kernel writes it."""
    found = first(
        lambda: dcmi.read(calls.PCI, address, PcieInfo),
        lambda: _old_pci(dcmi, address),
    )
    return bus_address(found.domain, found.bdf_busid, found.bdf_deviceid, found.bdf_funcid)


def _old_pci(dcmi: Dcmi, address: Address) -> PcieInfo:
    """What older drivers answer, which know the domain 0 alone."""
    old = dcmi.read(calls.OLD_PCI, address, OldPcieInfo)
    return PcieInfo(
        bdf_busid=old.bdf_busid, bdf_deviceid=old.bdf_deviceid, bdf_funcid=old.bdf_funcid
    )


def _is_a3(dcmi: Dcmi, address: Address) -> bool:
    ids = or_none(partial(dcmi.read, calls.BOARD_INFO, address, BoardIds))
    return ids is not None and not dcmi.v2 and ids.board_id in _A3_BOARDS
