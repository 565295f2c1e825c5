"""What torch.npu leaves undone in itself, done when the backend opens."""

from __future__ import annotations

import os
from functools import partial
from typing import Any


def repair(module: Any) -> None:
    """Close the gaps of torch.npu; a release without one, or without the names, stays as it is."""
    _notice_forks(module)
    _name_deferred_errors(module)


def _notice_forks(module: Any) -> None:
    """Have it refuse its devices in a child of os.fork(), as in one of multiprocessing.

    torch_npu hears of forks through multiprocessing alone. In any other forked child it goes on
    as if it were the parent, whose threads the child does not have: an operator waits for ever.
    """
    mark = getattr(module, "_after_fork", None)
    if mark is not None:
        os.register_at_fork(after_in_child=partial(mark, None))


def _name_deferred_errors(module: Any) -> None:
    """Let a call that was queued before the first use fail with its own error.

    torch_npu 2.1 to 2.14 raises DeferredNpuCallError then, a name that it does not define: what
    arrives is a NameError that says nothing of the call.
    """
    intended = getattr(module, "_DeferredNpuCallError", None)
    if intended is not None and not hasattr(module, "DeferredNpuCallError"):
        module.DeferredNpuCallError = intended
