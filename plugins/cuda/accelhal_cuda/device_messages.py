"""What messages of programs say of boards, builds and MPS, for the doctor."""

from __future__ import annotations

import re
from collections.abc import Mapping

from accelhal.spi.doctor import MessageRule, Text
from accelhal_cuda.mps_rule import QUIT

TEXTS: Mapping[str, Text] = {
    "said.no_kernel_image": Text(
        "{device}: a kernel found no code for the board",
        "The build that ran it has neither code for this architecture nor code to compile for it.",
        "a build with code for the board",
    ),
    "said.invalid_ordinal": Text(
        "{device}: a program asked for a device that its mask does not show",
        "Devices are counted within CUDA_VISIBLE_DEVICES from 0; a worker may have inherited "
        "another mask than the program that sends it work.",
        "indices below the number of visible devices, and one mask for all processes of the job",
    ),
    "said.busy": Text(
        "{device}: a program found the board busy or unavailable",
        "It is held in an exclusive mode, or full of MPS clients, or no node of it may be opened.",
        "the default compute mode, and room on the board",
    ),
}

MESSAGES = (
    MessageRule(
        pattern=re.compile(r"no kernel image is available"),
        needle="no kernel image",
        check="framework.arch",
        code="said.no_kernel_image",
        commands=(
            "python -c 'import torch; print(torch.cuda.get_arch_list())'",
            "pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/cu126",
        ),
    ),
    MessageRule(
        pattern=re.compile(r"invalid device ordinal"),
        needle="invalid device ordinal",
        check="device.mask",
        code="said.invalid_ordinal",
        commands=("env | grep CUDA_VISIBLE_DEVICES", "ray stop; ray start --head", "nvidia-smi -L"),
    ),
    MessageRule(
        pattern=re.compile(r"CUDA-capable devices are busy or unavailable"),
        needle="busy or unavailable",
        check="device.busy",
        code="said.busy",
        commands=(
            "nvidia-smi --query-gpu=index,compute_mode --format=csv",
            "nvidia-smi --query-compute-apps=gpu_uuid,pid --format=csv",
        ),
    ),
    MessageRule(
        pattern=re.compile(
            r"(?P<said>[^:]{0,60}\bMPS\b[^:]{0,80}(?:not ready|failed|other user|another user))"
        ),
        needle="MPS",
        check="env.mps",
        code="mps.server",
        commands=(QUIT, "ps -C nvidia-cuda-mps-server -o user,pid"),
        needs_root=True,
        disturbs=True,
    ),
)
