"""NVML through nvidia-ml-py: started, asked, and its errors told apart."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import pynvml

from accelhal.drivers.readings import NotReportedError
from accelhal.errors import (
    AccelhalError,
    BackendLoadError,
    DeviceError,
    DeviceLostError,
    DeviceNotFoundError,
    DeviceTimeoutError,
    DeviceUnhealthyError,
)

Answer = TypeVar("Answer")

_NO_VALUE = frozenset(
    {
        pynvml.NVML_ERROR_NOT_SUPPORTED,
        pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
        pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
        pynvml.NVML_ERROR_DEPRECATED,
    }
)

_RAISED: dict[int, type[AccelhalError]] = {
    pynvml.NVML_ERROR_GPU_IS_LOST: DeviceLostError,
    pynvml.NVML_ERROR_RESET_REQUIRED: DeviceUnhealthyError,
    pynvml.NVML_ERROR_NOT_FOUND: DeviceNotFoundError,
    pynvml.NVML_ERROR_TIMEOUT: DeviceTimeoutError,
    pynvml.NVML_ERROR_NOT_READY: DeviceTimeoutError,
}


def start() -> None:
    """Load the library and start it.

    Raises:
        BackendLoadError: it does not load, or its driver is not there.
    """
    try:
        pynvml.nvmlInitWithFlags(0)
    except pynvml.NVMLError as error:
        raise BackendLoadError(
            f"cuda: NVML does not start: {error}",
            backend="cuda",
            operation="open_management",
            hint="nvidia-smi shows whether driver and library fit; in a container ask for "
            "NVIDIA_DRIVER_CAPABILITIES=utility",
        ) from error


def ask(function: Callable[..., Answer], *arguments: Any) -> Answer:
    """What an NVML function answers.

    Raises:
        NotReportedError: the board or this driver has no such figure, or it needs more rights.
        DeviceLostError, DeviceUnhealthyError, DeviceNotFoundError, DeviceTimeoutError: by code.
        DeviceError: any other code.
    """
    try:
        return function(*arguments)
    except pynvml.NVMLError as error:
        text = f"{function.__name__}: {error}"
        if error.value in _NO_VALUE:
            raise NotReportedError(text) from None
        if error.value == pynvml.NVML_ERROR_NO_PERMISSION:
            raise NotReportedError(f"{text}: it needs more rights") from None
        raised = _RAISED.get(error.value, DeviceError)
        raise raised(f"cuda: {text}", backend="cuda", operation=function.__name__) from error


def field(handle: Any, number: int) -> int:
    """A figure of nvmlDeviceGetFieldValues.

    Raises:
        NotReportedError: the board has no such figure.
    """
    [found] = ask(pynvml.nvmlDeviceGetFieldValues, handle, [number])
    if found.nvmlReturn != pynvml.NVML_SUCCESS:
        raise NotReportedError(f"nvmlDeviceGetFieldValues({number}): code {found.nvmlReturn}")
    value = found.value
    wide = found.valueType in (pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG,)
    return int(value.ullVal if wide else value.uiVal)


def bits(words: Any) -> tuple[int, ...]:
    """Numbers of the bits that are set, over 64-bit words."""
    return tuple(
        64 * place + bit for place, word in enumerate(words) for bit in range(64) if word >> bit & 1
    )


def cpu_words() -> int:
    """64-bit words that hold a bit for each CPU of the host."""
    return (os.cpu_count() or 1) // 64 + 1
