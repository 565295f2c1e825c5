"""What every host has, vendor-free: files, environment, the PCI bus, installed packages."""

from accelhal.host.host import Host

__all__ = ["Host"]
