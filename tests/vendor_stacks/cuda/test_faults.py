"""What a failing board raises through torch.cuda, and the kind that accelhal calls it.

A lost board is left out: the simulation words it as the driver library does, not as CUDA.
"""

from __future__ import annotations

from vendor_stacks.cuda.process import run_python
from vendor_stacks.cuda.settings import Settings

CODE = """
import accelhal, torch
from accelhal_mock.simulation.faults.catalogue import make_fault
from vendor_stacks.cuda import boards

here, there = accelhal.devices("cuda")
ones, others = (torch.ones(4, device=device.torch_device) for device in (here, there))
for kind in ("ecc_uncorrected", "hang", "link_down"):
    boards.machine().inject(make_fault(kind, 0))
    try:
        others.copy_(ones)
        (ones + 1).cpu()
    except RuntimeError as error:
        print(kind, here.classify_error(error).label, str(error).splitlines()[0], sep="|")
    boards.machine().clear_faults(0)
try:
    torch.empty(1 << 50, device="cuda:1")
except torch.OutOfMemoryError as error:
    print("oom", there.classify_error(error).label, str(error)[:18], sep="|")
print("after", (ones + 1).sum().item(), sep="|")
"""


def test_each_fault_has_its_kind(stack: Settings) -> None:
    rows = [line.split("|") for line in run_python(CODE, stack).splitlines()]
    assert {row[0]: row[1] for row in rows[:-1]} == {
        "ecc_uncorrected": "memory_fault",
        "hang": "timeout",
        "link_down": "link_fault",
        "oom": "out_of_memory",
    }
    assert all(row[2].startswith("CUDA ") for row in rows[:-1]), "not as torch words it"
    assert rows[-1] == ["after", "8.0"], "the board is not usable again"
