"""torch's thread-local state of a caller, taken along to the thread that runs the model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True, eq=False, slots=True)
class CallerState:
    """Grad mode, inference mode and autocast of a thread; there is one object for equal ones.

    Attributes:
        grad: whether gradients are recorded.
        inference: whether inference mode is on.
        autocast: (device type, type's name, weight cache on) of each autocast that is on.
    """

    grad: bool
    inference: bool
    autocast: tuple[tuple[str, str, bool], ...]


@cache
def caller_state(
    grad: bool, inference: bool = False, autocast: tuple[tuple[str, str, bool], ...] = ()
) -> CallerState:
    """The state of these modes: always the same object, compared and hashed by identity."""
    return CallerState(grad, inference, autocast)


_PLAIN = tuple(
    caller_state(grad, inference, ()) for inference in (False, True) for grad in (False, True)
)


def reader(device_types: tuple[str, ...]) -> Callable[[], CallerState]:
    """A function that reads the calling thread's state.

    Args:
        device_types: those whose autocast is looked at, beside the processor's and that of the
            accelerator which torch finds.
    """
    torch: Any = None
    grad_enabled: Any = None
    inference_enabled: Any = None
    any_autocast: Any = None

    def read() -> CallerState:
        if grad_enabled is None and not find():
            return _PLAIN[1]  # a state that no caller can have changed
        state: CallerState = _PLAIN[grad_enabled() + 2 * inference_enabled()]
        if not any_autocast():
            return state
        autocast = tuple(
            (kind, str(torch.get_autocast_dtype(kind)), torch.is_autocast_cache_enabled())
            for kind in sorted({*device_types, *_found_types(torch)})
            if torch.is_autocast_enabled(kind)
        )
        return caller_state(state.grad, state.inference, autocast) if autocast else state

    def find() -> bool:
        nonlocal torch, grad_enabled, inference_enabled, any_autocast
        torch = sys.modules.get("torch")
        if torch is None:
            return False
        inference_enabled = torch.is_inference_mode_enabled
        # One call where torch has it: asking for each type costs more than all the rest.
        any_autocast = getattr(torch._C, "_is_any_autocast_enabled", lambda: True)
        grad_enabled = torch.is_grad_enabled
        return True

    return read


def _found_types(torch: Any) -> tuple[str, ...]:
    accelerator = getattr(torch, "accelerator", None)  # torch 2.6
    found = None if accelerator is None else accelerator.current_accelerator()
    return ("cpu",) if found is None else ("cpu", found.type)


_NOTHING = nullcontext()


class StateKeeper:
    """Holds a thread in the state of the last caller, so that equal ones cost nothing.

    The thread must `leave` before it ends: torch's guards put the modes back in whichever thread
    drops them last.
    """

    def __init__(self) -> None:
        self._entered: CallerState | None = None
        self._contexts = ExitStack()

    def within(self, state: CallerState) -> AbstractContextManager[object]:
        """Context in which the calling thread has that state."""
        if state is not self._entered and "torch" in sys.modules:
            self.enter(state)
        return self._autocast(state) if state.autocast else _NOTHING

    @contextmanager
    def _autocast(self, state: CallerState) -> Iterator[None]:
        import torch

        # Left after each batch: autocast keeps casts of weights until it is left.
        with ExitStack() as stack:
            for kind, dtype, cache_enabled in state.autocast:
                kept = getattr(torch, dtype.removeprefix("torch."))
                stack.enter_context(torch.autocast(kind, kept, cache_enabled=cache_enabled))
            yield

    def enter(self, state: CallerState) -> None:
        """Leave the state that the thread is in for another; autocast apart."""
        import torch

        self.leave()
        self._contexts.enter_context(torch.inference_mode(state.inference))
        self._contexts.enter_context(torch.set_grad_enabled(state.grad))
        self._entered = state

    def leave(self) -> None:
        """Put back the modes that the calling thread had at first."""
        self._entered = None
        self._contexts.close()
