"""The calls of torch.mlu about random numbers; seeds wait for the first use of a device."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from accelhal_mock.python_mode import devices as boards, random_numbers

from torch_mlu import process


def get_rng_state(device: Any = "mlu") -> torch.Tensor:
    process.lazy_init()
    return random_numbers.get_rng_state(device)


def get_rng_state_all() -> list[torch.Tensor]:
    process.lazy_init()
    return random_numbers.get_rng_state_all()


def set_rng_state(new_state: torch.Tensor, device: Any = "mlu") -> None:
    copy = new_state.clone()
    process.once_initialized(lambda: random_numbers.set_rng_state(copy, device))


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def manual_seed(seed: int) -> None:
    """Seed the device that is current when the seed takes effect."""
    seed = int(seed)
    process.once_initialized(
        lambda: random_numbers.default_generators[boards.current_device()].manual_seed(seed)
    )


def manual_seed_all(seed: int) -> None:
    seed = int(seed)
    process.once_initialized(lambda: random_numbers.manual_seed_all(seed))


def seed() -> None:
    process.once_initialized(random_numbers.seed)


def seed_all() -> None:
    process.once_initialized(random_numbers.seed_all)


def initial_seed() -> int:
    process.lazy_init()
    return random_numbers.initial_seed()
