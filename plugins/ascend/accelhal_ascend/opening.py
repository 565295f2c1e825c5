"""Opens the management plane; apart from the spec, of which a driver process needs nothing else."""

from __future__ import annotations

from accelhal.spi import Management


def open_management() -> Management:
    """Load the driver's library and start it."""
    from accelhal_ascend.management import DcmiManagement

    return DcmiManagement()
