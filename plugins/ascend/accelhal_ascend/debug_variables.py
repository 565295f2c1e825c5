"""Variables of CANN, HCCL and torch_npu that help to find errors and cost speed."""

from __future__ import annotations

from accelhal.spi.doctor import DebugVariable

DEBUG_VARIABLES = (
    DebugVariable(
        name="ASCEND_LAUNCH_BLOCKING",
        effect="every operator waits until it is done, and the task queue is off",
        when="an operator's error is reported in a place that cannot have caused it",
    ),
    DebugVariable(
        name="ASCEND_GLOBAL_LOG_LEVEL",
        harmless=("", "2", "3", "4"),
        effect="CANN logs every call (0: debug, 1: info)",
        when="the log of errors alone (3) does not tell what failed, first with 1",
    ),
    DebugVariable(
        name="ASCEND_SLOG_PRINT_TO_STDOUT",
        effect="CANN prints its log instead of writing it to a file",
        when="a container keeps no files",
    ),
    DebugVariable(
        name="TASK_QUEUE_ENABLE",
        harmless=("", "1", "2"),
        effect="operators are sent to the board one by one, by the thread that calls them",
        when="an error's Python traceback does not show where it comes from",
    ),
    DebugVariable(
        name="TORCH_NPU_SANITIZER",
        effect="every access of a stream to memory is checked",
        when="streams seem to overwrite one another's results",
    ),
    DebugVariable(
        name="HCCL_DESYNC_DEBUG",
        effect="ranks keep and compare a record of their collectives",
        when="a collective times out and it is not known which rank stays away",
    ),
)
"""The manuals of CANN and torch_npu on environment variables."""
