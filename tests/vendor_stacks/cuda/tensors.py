"""Tensors of the simulated boards: real `cuda:N` tensors whose values lie on the host.

A CPU build has no kernels for CUDA, but its dispatcher takes them from Python. It has no autograd
for CUDA either, and takes none: backward passes do not run here.
"""

from __future__ import annotations

from typing import Any

import torch
from accelhal_mock.python_mode.installed import Installation, set_installation
from accelhal_mock.python_mode.random_numbers import BoardGenerator, default_generators
from accelhal_mock.python_mode.registration import register_operators
from accelhal_mock.python_mode.tensor import board_devices
from accelhal_mock.simulation import Machine

_KEY = "CUDA"


def register_tensors(machine: Machine) -> tuple[torch.Generator, ...]:
    """Let torch find the boards' kernels; returns the boards' generators. Once for the process."""
    module: Any = torch.cuda
    set_installation(Installation("cuda", machine, module))
    board_devices[:] = [torch.device("cuda", board.index) for board in machine.boards]
    default_generators[:] = [BoardGenerator(device) for device in board_devices]
    register_operators(_KEY)
    return tuple(default_generators)
