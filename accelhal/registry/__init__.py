"""Finding, probing, choosing and opening backends."""

from accelhal.registry.listing import Backend
from accelhal.registry.opening import (
    OpenBackend,
    backends,
    choose,
    is_open,
    open_backend,
    register,
)

__all__ = ["Backend", "OpenBackend", "backends", "choose", "is_open", "open_backend", "register"]
