"""Variables of CNNL, CNRT and CNCL that help to find errors and cost speed."""

from __future__ import annotations

from accelhal.spi.doctor import DebugVariable

_OPERATORS_SAVED = "every operator's shapes and arguments are written to files or printed"
_ONE_OPERATOR_FAILS = "one operator fails or gives wrong results, and is to be run alone"

DEBUG_VARIABLES = (
    DebugVariable(
        name="CNNL_GEN_CASE",
        harmless=("", "0", "OFF"),
        effect=_OPERATORS_SAVED,
        when=_ONE_OPERATOR_FAILS,
    ),
    DebugVariable(
        name="MLUOP_GEN_CASE",
        harmless=("", "0", "OFF"),
        effect=_OPERATORS_SAVED,
        when=_ONE_OPERATOR_FAILS,
    ),
    DebugVariable(
        name="CNRT_MEM_BOUNDRY_CHECK",
        effect="every copy is checked against the bounds of its memory",
        when="memory seems to be overwritten",
    ),
    DebugVariable(
        name="CNCL_LOG_LEVEL",
        harmless=("", "ERROR", "WARNING", "INFO"),
        effect="CNCL logs every call",
        when="a collective hangs or fails, with DEBUG",
    ),
)
"""The mlu-ops manual on environment variables and gen_case; published training scripts."""
