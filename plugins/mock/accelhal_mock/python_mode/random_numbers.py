"""Random numbers of boards: each has a generator of its own, seeded as torch seeds devices."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import torch

from accelhal_mock.python_mode.arguments import Call
from accelhal_mock.python_mode.devices import board_of, current_device, device_count
from accelhal_mock.python_mode.tensor import board_devices
from accelhal_mock.simulation import Board

_CpuGenerator: Any = torch.Generator  # the class itself, also while a patch stands in its place


class BoardGenerator(_CpuGenerator):
    """A generator of a board. It draws as the CPU's does: equal seeds give equal numbers."""

    def __new__(cls, device: torch.device) -> BoardGenerator:
        """A generator on `device`, seeded with torch's default."""
        made: BoardGenerator = super().__new__(cls, device="cpu")
        _on_boards[made._cdata] = made
        return made

    def __init__(self, device: torch.device) -> None:
        self._device = device

    @property
    def device(self) -> torch.device:
        """The board."""
        return self._device


_on_boards: weakref.WeakValueDictionary[int, BoardGenerator] = weakref.WeakValueDictionary()
"""By the address of torch's generator: operators get it under another Python object."""

default_generators: list[BoardGenerator] = []
"""By board index; filled when the device type gets its name."""


def use_board_generator(position: int, call: Call, board: Board) -> None:
    """Let a call draw from the board's default generator, unless it brings one of a board.

    Raises:
        RuntimeError: it brings a generator of the host.
    """
    positional = position < len(call.args)
    given = call.args[position] if positional else call.kwargs.get("generator")
    if given is None:
        generator = default_generators[board.index]
        if positional:
            call.args[position] = generator
        else:
            call.kwargs["generator"] = generator
    elif given._cdata not in _on_boards:
        name = board_devices[board.index].type
        raise RuntimeError(
            f"Expected a '{name}' device type for generator but found '{given.device.type}'"
        )


# ---- the calls of torch.cuda.random


def manual_seed(seed: int) -> None:
    """Seed the current board's generator."""
    default_generators[current_device()].manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seed all boards' generators; torch.manual_seed calls it."""
    for generator in default_generators:
        generator.manual_seed(int(seed))


def seed() -> None:
    """Seed the current board's generator with a number that is not reproducible."""
    default_generators[current_device()].seed()


def seed_all() -> None:
    """Seed all boards' generators with one number that is not reproducible."""
    manual_seed_all(torch.default_generator.seed())


def initial_seed() -> int:
    """The seed of the current board's generator."""
    found: int = default_generators[current_device()].initial_seed()
    return found


def get_rng_state(device: Any = None) -> torch.Tensor:
    """State of a board's generator: a uint8 tensor on the host."""
    state: torch.Tensor = default_generators[board_of(device).index].get_state()
    return state


def set_rng_state(new_state: torch.Tensor, device: Any = None) -> None:
    """Restore a state of a board's generator."""
    default_generators[board_of(device).index].set_state(new_state)


def get_rng_state_all() -> list[torch.Tensor]:
    """States of all boards' generators."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Restore the states of all boards' generators."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
