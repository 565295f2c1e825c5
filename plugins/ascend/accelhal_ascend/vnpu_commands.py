"""What to type into npu-smi to cut a chip into vNPUs, and to take one away.

Source: Ascend mind-cluster, "Creating a vNPU" and "Destroying a vNPU"; for the mode, Ascend 300V's
"vNPU scenarios" (https://hiascend.com/document/detail/zh/300Vtest/300VG/300V_0049.html).
"""

from __future__ import annotations

import shlex

from accelhal.facts import VendorCommands
from accelhal_ascend.dcmi import Address

_ROOT = "it needs root on the host"
_ASK = VendorCommands(notes=("not known here for Ascend 950: `npu-smi set -h` lists what it can",))


def creation(chip: Address, profile: str, *, v2: bool) -> VendorCommands:
    """The command that makes one vNPU from a template ("vir04")."""
    if v2:
        return _ASK
    where = f"-i {chip.card} -c {chip.chip}"
    return VendorCommands(
        (f"sudo npu-smi set -t create-vnpu {where} -f {shlex.quote(profile)}",),
        (
            _ROOT,
            "for containers the host must be in mode 0 first: `npu-smi set -t vnpu-mode -d 0`",
            f"`npu-smi info -t template-info -i {chip.card}` lists the templates",
        ),
    )


def removal(chip: Address, number: int | None, *, v2: bool) -> VendorCommands:
    """The command that takes away the vNPU of that number."""
    if number is None:
        return VendorCommands(notes=("this is a whole chip, not a slice",))
    if v2:
        return _ASK
    where = f"-i {chip.card} -c {chip.chip}"
    return VendorCommands(
        (f"sudo npu-smi set -t destroy-vnpu {where} -v {number}",),
        (_ROOT, "no container may use the vNPU"),
    )
