"""Calling a plugin's code with a time limit, so that one that hangs costs only itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from accelhal.registry.state import state

Result = TypeVar("Result")

PLUGIN_LIMIT_S = 5.0
"""Limit for importing a plugin's spec, and for its probe: both promise milliseconds."""


def call_within(limit_s: float, function: Callable[..., Result], *args: object) -> Result:
    """What the function returns or raises, called in a thread of its own.

    Python cannot end a thread: one that passes the limit is left behind, and ends with the process.

    Raises:
        TimeoutError: no answer in time, now or at an earlier call with the same arguments.
    """
    call = (function, args)
    if call in state.hanging:
        raise TimeoutError("it did not answer before")
    ended = threading.Event()
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function(*args))
        except BaseException as error:
            errors.append(error)
        finally:
            ended.set()

    try:
        threading.Thread(target=run, name="accelhal-plugin", daemon=True).start()
    except RuntimeError:  # no thread to be had: the interpreter is ending, or at its limit
        run()
    if not ended.wait(limit_s):
        state.hanging.append(call)
        raise TimeoutError(f"no answer within {limit_s:g} s")
    if errors:
        raise errors[0]
    return results[0]
