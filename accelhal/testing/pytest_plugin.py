"""pytest plugin: run a test suite on the device that the command line names.

Nothing of torch is imported until a test asks for a device.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import pytest

from accelhal.device_name import parse_device_name
from accelhal.errors import AccelhalError

if TYPE_CHECKING:
    from accelhal.facade import Device

pytest.register_assert_rewrite("accelhal.testing.suite")

OPTION = "--accelhal-device"
MARKER = "accelhal"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the device."""
    parser.getgroup("accelhal").addoption(
        OPTION,
        metavar="NAME",
        default=None,
        help='device for the fixture accelhal_device ("npu:0"); accelhal.device() when not given',
    )


def pytest_configure(config: pytest.Config) -> None:
    """Describe the marker, and refuse a malformed name before any test runs."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(require={{capabilities}}, devices=N): skip where the device under test lacks a "
        "capability, or its backend has fewer devices",
    )
    name = config.getoption(OPTION)
    if name is not None:
        try:
            parse_device_name(name)
        except AccelhalError as error:
            raise pytest.UsageError(f"{OPTION}: {error}") from error


@pytest.fixture
def accelhal_device(request: pytest.FixtureRequest) -> Device:
    """The device under test, current for nobody; the test is skipped where the marker says so."""
    device = _open(request.config.getoption(OPTION))
    for marker in request.node.iter_markers(MARKER):
        check_requirements(device, **_arguments(marker, request.node.nodeid))
    return device


@pytest.fixture
def accelhal_devices(accelhal_device: Device) -> list[Device]:
    """All devices of the backend under test, the one named on the command line first."""
    from accelhal.facade import devices

    others = [other for other in devices(accelhal_device.backend) if other != accelhal_device]
    return [accelhal_device, *others]


def _open(name: str | None) -> Device:
    from accelhal.facade import device

    try:
        return device(name)
    except AccelhalError as error:
        pytest.fail(f"{OPTION if name else 'accelhal.device()'}: {error}", pytrace=False)


def _arguments(marker: pytest.Mark, where: str) -> dict[str, Any]:
    unknown = sorted(set(marker.kwargs) - {"require", "devices"})
    if marker.args or unknown:
        wrong = unknown[0] if unknown else repr(marker.args[0])
        raise pytest.UsageError(
            f"{where}: @pytest.mark.{MARKER} takes require= and devices= only, not {wrong}"
        )
    return dict(marker.kwargs)


def check_requirements(
    device: Device, require: str | Collection[str] = (), devices: int = 1
) -> None:
    """Skip the running test where the device, or the number of its kind, is not enough."""
    from accelhal.facade import devices as all_devices

    wanted = [require] if isinstance(require, str) else sorted(require)
    missing = [capability for capability in wanted if device.supports(capability) is None]
    if missing:
        pytest.skip(f"{device} has no {', '.join(missing)}")
    found = len(all_devices(device.backend))
    if found < devices:
        pytest.skip(f"needs {devices} devices of {device.backend}, which has {found}")
