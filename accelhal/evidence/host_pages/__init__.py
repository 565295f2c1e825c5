"""Pages that are no vendor's: what the kernel, the shell and Python print about a host."""

from __future__ import annotations

from collections.abc import Sequence

from accelhal.evidence.host_pages import (
    air,
    bus,
    environment,
    files,
    kernel,
    kernel_log,
    nodes,
    packages,
    services,
    storage,
)
from accelhal.evidence.host_pages.page import HostPage as HostPage


def host_pages(log_needles: Sequence[str], asked: Sequence[str] = ()) -> tuple[HostPage, ...]:
    """The pages, those whose first line is the most telling first.

    Args:
        log_needles: texts by which lines of a kernel log are known that have lost their stamp.
        asked: globs of the files that plugins ask for.
    """
    return (
        files.page(asked),
        services.IS_ACTIVE,
        services.STATUS,
        kernel_log.page(log_needles),
        bus.PAGE,
        kernel.UNAME,
        kernel.COMMAND_LINE,
        kernel.LSMOD,
        kernel.PROC_MODULES,
        nodes.PAGE,
        nodes.MISSING,
        storage.PAGE,
        air.PAGE,
        packages.LIST,
        packages.FREEZE,
        packages.COLLECT_ENV,
        environment.PAGE,
    )
