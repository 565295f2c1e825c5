"""What to do to install releases of torch and torch_mlu that go together."""

from __future__ import annotations

from accelhal.facts.compatibility import PairVerdict

SETUP = ("export LD_LIBRARY_PATH=${NEUWARE_HOME:-/usr/local/neuware}/lib64:$LD_LIBRARY_PATH",)


def install_framework(verdict: PairVerdict | None) -> tuple[str, ...]:
    """Commands; the wheels come with Cambricon's release, from no public index."""
    if verdict is not None and verdict.change == "torch" and verdict.wanted:
        return (f"pip install torch=={verdict.wanted[0]} <torch_mlu wheel of the same release>",)
    return ("pip install <torch wheel> <torch_mlu wheel>  # of one release of sdk.cambricon.com",)
