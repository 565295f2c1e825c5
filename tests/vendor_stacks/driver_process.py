"""A plugin's management plane in a driver process of its own, with limits short enough to wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from accelhal.management.driver_client import DriverClient
from accelhal.management.remote import RemoteManagement
from accelhal.spi import BackendSpec


@contextmanager
def in_driver_process(spec: BackendSpec) -> Iterator[RemoteManagement]:
    """The plane, opened on first use in the environment of that moment."""
    assert spec.open_management is not None
    client = DriverClient(spec.name, spec.open_management, call_limit_s=2, start_limit_s=60)
    try:
        yield RemoteManagement(client)
    finally:
        client.close()
