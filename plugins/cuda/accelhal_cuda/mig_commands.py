"""What to type into nvidia-smi to cut a board by MIG, and to take a slice away.

Source: NVIDIA MIG User Guide, "Getting Started with MIG", and the help text of `nvidia-smi mig`.
"""

from __future__ import annotations

import shlex

from accelhal.facts import VendorCommands

_ROOT = "it needs root"
_PROFILES = "`nvidia-smi mig -lgip` lists the profiles, and how many of each still fit"


def creation(board: str, profile: str, *, is_on: bool) -> VendorCommands:
    """Commands that make one slice.

    Args:
        board: its UUID.
        profile: name or number of the profile ("3g.20gb").
        is_on: whether the board is in MIG mode.
    """
    where = f"-i {shlex.quote(board)}"
    lines = [] if is_on else [f"sudo nvidia-smi {where} -mig 1"]
    lines.append(f"sudo nvidia-smi mig {where} -cgi {shlex.quote(profile)} -C")
    turned_on = "the first command takes the board from whoever uses it; A100 and A30 are reset"
    notes = (_ROOT, _PROFILES) if is_on else (_ROOT, turned_on, _PROFILES)
    return VendorCommands(tuple(lines), notes)


def removal(board: str, gpu_instance: int, compute_instance: int) -> VendorCommands:
    """Commands that take one slice away.

    Args:
        board: UUID of the board it is cut from.
        gpu_instance: NVML's number of the GPU instance.
        compute_instance: NVML's number of the compute instance in it.
    """
    where = f"sudo nvidia-smi mig -i {shlex.quote(board)}"
    lines = (
        f"{where} -dci -ci {compute_instance} -gi {gpu_instance}",
        f"{where} -dgi -gi {gpu_instance}",
    )
    notes = (
        _ROOT,
        "no process may use the slice",
        f"the second fails while GPU instance {gpu_instance} has other compute instances: "
        "`nvidia-smi mig -lci` lists them",
    )
    return VendorCommands(lines, notes)
