"""What the plugins say of hosts with their boards: the extension "doctor_facts"."""

from __future__ import annotations

from accelhal.errors import BackendLoadError, warn
from accelhal.registry.extensions import load_extension
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import VendorHost


def vendor_host(spec: BackendSpec) -> VendorHost:
    """The plugin's own, or one that says nothing; a broken one is warned of."""
    try:
        return load_extension(spec, "doctor_facts", VendorHost) or VendorHost()
    except BackendLoadError as error:
        warn(str(error))
        return VendorHost()
