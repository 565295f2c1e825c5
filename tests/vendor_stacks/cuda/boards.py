"""The simulated boards of this process, as CUDA_VISIBLE_DEVICES shows them."""

from __future__ import annotations

import uuid
from functools import cache

from accelhal_mock.profiles import load_profile
from accelhal_mock.simulation import Board, Machine, MachineConfig, Stream
from accelhal_mock.simulation.faults.notation import parse_faults
from vendor_stacks.cuda.settings import settings

_NAMESPACE = uuid.UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")  # RFC 9562, namespace OID


@cache
def machine() -> Machine | None:
    """The machine of the visible boards, in their order; None where none is visible."""
    import torch.cuda
    from accelhal_mock.torch_errors import torch_errors

    told = settings()
    uuids = [board_uuid(index) for index in range(len(told.boards))]
    visible = _visible(torch.cuda._parse_visible_devices(), uuids)
    if not visible:
        return None
    config = MachineConfig(
        profiles=tuple(load_profile(told.boards[number]) for number in visible),
        memory=told.memory,
        hazards="raise",
        faults=parse_faults(told.faults) if told.faults else (),
    )
    made = Machine("cuda", config)
    made.errors = torch_errors()
    for board, number in zip(made.boards, visible, strict=True):
        board.uuid, board.pci = uuids[number], f"0000:{0x10 + number:02x}:00.0"
    return made


def board_uuid(number: int) -> str:
    """UUID of a board by the driver's number, without the driver's prefix, as torch tells it."""
    return str(uuid.uuid5(_NAMESPACE, f"simulated CUDA board {number}"))


def visible_machine() -> Machine:
    """The same where calls need a board; the driver's own error where none is visible."""
    found = machine()
    if found is None:
        raise RuntimeError("No CUDA GPUs are available")
    return found


def board(index: int) -> Board:
    """A visible board."""
    return visible_machine().board(index)


def stream(stream_id: int, device_index: int) -> Stream:
    """A stream by torch's name for it."""
    return board(device_index).streams()[stream_id]


def _visible(parsed: list[int] | list[str], uuids: list[str]) -> list[int]:
    """The driver's numbers that torch's reading of the variable leaves, up to the first unknown."""
    found: list[int] = []
    for entry in parsed:
        if isinstance(entry, str):
            matching = [n for n, known in enumerate(uuids) if f"GPU-{known}".startswith(entry)]
            number = matching[0] if len(matching) == 1 else -1
        else:
            number = entry
        if not 0 <= number < len(uuids):
            break
        if number in found:
            return []
        found.append(number)
    return found
