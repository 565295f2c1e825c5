"""Device: where arguments, capabilities and errors are checked, once for every backend."""

from accelhal.facade.choosing import device, devices
from accelhal.facade.device_object import Device

__all__ = ["Device", "device", "devices"]
