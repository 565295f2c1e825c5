"""Variables with which torch itself helps to find errors, at a cost in speed."""

from __future__ import annotations

from accelhal.spi.doctor import DebugVariable

TORCH_DEBUG_VARIABLES = (
    DebugVariable(
        name="TORCH_SHOW_CPP_STACKTRACES",
        effect="every error of torch collects the stack of its C++ code",
        when="an error's Python traceback does not show where it comes from",
    ),
    DebugVariable(
        name="TORCH_DISTRIBUTED_DEBUG",
        harmless=("", "OFF"),
        effect="ranks check before each collective that all of them call the same",
        when="a collective hangs or the ranks seem to run apart; DETAIL shows most and costs most",
    ),
    DebugVariable(
        name="TORCH_CPP_LOG_LEVEL",
        harmless=("", "WARNING", "ERROR", "FATAL", "1", "2", "3"),
        effect="torch's C++ code logs what it does",
        when="ranks do not find one another, with INFO",
    ),
    DebugVariable(
        name="TORCH_LOGS",
        harmless=("",),
        effect="torch.compile logs its work, to the graphs and code that it makes",
        when="a compiled model is slow or recompiles, with recompiles,graph_breaks",
    ),
    DebugVariable(
        name="TORCH_COMPILE_DEBUG",
        effect="torch.compile writes all its stages into files",
        when="a compiled model gives other results than the plain one",
    ),
    DebugVariable(
        name="PYTHONDEVMODE",
        effect="Python checks its memory allocations and warns of all",
        when="an extension module corrupts memory",
    ),
)
"""Read by torch's C++ code, torch.distributed, torch._logging and Python (their manuals)."""
