"""What to type to install releases of torch_npu, torch and CANN that go together."""

from __future__ import annotations

from accelhal.facts.compatibility import PairVerdict

_CPU_WHEELS = "--extra-index-url https://download.pytorch.org/whl/cpu"
"""torch_npu extends the torch for the CPU."""

SETUP = ("source /usr/local/Ascend/ascend-toolkit/set_env.sh",)


def install_framework(verdict: PairVerdict | None) -> tuple[str, ...]:
    """Commands for what a look at the tables wants, else for torch_npu of the installed torch."""
    if verdict is None:
        return (f"pip install torch_npu {_CPU_WHEELS}",)
    if {verdict.left, verdict.right} == {"torch_npu", "cann"}:
        listed = " or ".join(verdict.partners)
        other = (f"# or install CANN {listed}, then: {SETUP[0]}",) if listed else ()
        if verdict.change == "cann":
            return (f"# install CANN {' or '.join(verdict.wanted)}, then: {SETUP[0]}",)
        return (*_pip(verdict), *other)
    return _pip(verdict)


def _pip(verdict: PairVerdict) -> tuple[str, ...]:
    if verdict.change is None or not verdict.wanted:
        return ("pip list | grep -iE 'torch|vllm'",)
    return tuple(
        f"pip install '{_requirement(verdict.change, one)}' {_CPU_WHEELS}"
        for one in verdict.wanted[:1]
    )


def _requirement(name: str, version: str) -> str:
    return f"{name}{version}" if version[:1] in "<>=" else f"{name}=={version}"
