"""Whether torch.cuda is torch's own: other vendors' migration shims put their boards behind it."""

from __future__ import annotations

_LOOKED_AT = (
    "is_available",
    "device_count",
    "current_device",
    "set_device",
    "get_device_properties",
    "Stream",
)
"""What every shim must rebind to be of use (`transfer_to_npu`, `gpu_migration`)."""


def rebound_by(module: object) -> str | None:
    """The package whose objects stand in `torch.cuda`, or None where they are torch's own."""
    for name in _LOOKED_AT:
        owner: str = getattr(getattr(module, name, None), "__module__", None) or "unknown"
        package = owner.partition(".")[0]
        if package != "torch":
            return package
    return None
