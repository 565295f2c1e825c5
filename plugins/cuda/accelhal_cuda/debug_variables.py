"""Variables of CUDA, NCCL and torch.cuda that help to find errors and cost speed."""

from __future__ import annotations

from accelhal.spi.doctor import DebugVariable

DEBUG_VARIABLES = (
    DebugVariable(
        name="CUDA_LAUNCH_BLOCKING",
        effect="every kernel launch waits until the kernel is done",
        when="a CUDA error is reported in a place that cannot have caused it",
    ),
    DebugVariable(
        name="CUDA_DEVICE_WAITS_ON_EXCEPTION",
        effect="a failing kernel halts the board until a debugger comes",
        when="cuda-gdb is to look at a kernel where it fails",
    ),
    DebugVariable(
        name="CUDA_ENABLE_COREDUMP_ON_EXCEPTION",
        effect="a failing kernel writes the board's memory into a file",
        when="a kernel that fails seldom is to be looked at later",
    ),
    DebugVariable(
        name="NSIGHT_CUDA_DEBUGGER",
        effect="the debugger's hooks stay in every CUDA program",
        when="Nsight debugs kernels",
    ),
    DebugVariable(
        name="CUDA_INJECTION64_PATH",
        harmless=("",),
        effect="a library of a profiler is loaded into every CUDA program",
        when="a tool that needs it profiles the job",
    ),
    DebugVariable(
        name="CUDA_INJECTION32_PATH",
        harmless=("",),
        effect="a library of a profiler is loaded into every CUDA program",
        when="a tool that needs it profiles the job",
    ),
    DebugVariable(
        name="CUDA_PROFILE",
        effect="the driver keeps a log of all it does",
        when="an old toolkit has no other profiler",
    ),
    DebugVariable(
        name="COMPUTE_PROFILE",
        effect="the driver keeps a log of all it does",
        when="an old toolkit has no other profiler",
    ),
    DebugVariable(
        name="CUDA_AUTO_BOOST",
        harmless=("", "1"),
        effect="the board does not raise its clocks by itself",
        when="runs are compared at one clock",
    ),
    DebugVariable(
        name="NCCL_DEBUG",
        harmless=("", "VERSION", "WARN", "INFO"),
        effect="NCCL logs every call",
        when="a collective hangs or fails, first with INFO, with TRACE for each call",
    ),
    DebugVariable(
        name="PYTORCH_NO_CUDA_MEMORY_CACHING",
        effect="torch asks the driver for every tensor's memory",
        when="compute-sanitizer looks for accesses outside of tensors",
    ),
)
"""CUDA programming guide, NCCL's and torch's manuals; the list of DCGM's software checks."""
