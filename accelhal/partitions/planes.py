"""The management plane that a board's slices are asked of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from accelhal.device_name import DeviceName
from accelhal.errors import AccelhalError, DeviceError, described
from accelhal.facts import BoardKey
from accelhal.management.planes import open_management
from accelhal.registry import find_spec
from accelhal.spi import Management

T = TypeVar("T")


def ask(key: BoardKey, question: Callable[[Management], T]) -> T:
    """What the plane of the key's backend answers.

    Raises:
        AccelhalError: the driver library does not open, or fails at the question.
    """
    plane = open_management(find_spec(DeviceName(key.backend)))
    try:
        return question(plane)
    except AccelhalError:
        raise
    except Exception as error:  # a driver library and its wrapper raise what they like
        raise DeviceError(
            f"{key.backend}: its driver was asked about slices and raised {described(error)}",
            backend=key.backend,
            operation="partitions",
        ) from error
