"""Finding, probing, choosing and opening backends."""

from accelhal.registry.choosing import choose
from accelhal.registry.listing import Backend, backends
from accelhal.registry.opening import find_spec, is_open, open_backend
from accelhal.registry.registration import register
from accelhal.registry.state import OpenBackend

__all__ = [
    "Backend",
    "OpenBackend",
    "backends",
    "choose",
    "find_spec",
    "is_open",
    "open_backend",
    "register",
]
