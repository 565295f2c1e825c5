"""A vendor's driver library through ctypes: found, loaded, called one call at a time."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NoReturn

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
from accelhal.host.library_search import LibraryFile


class Outcome(Enum):
    """What a driver's return code means to its caller."""

    NO_VALUE = "no value"
    NO_PERMISSION = "no permission"
    ABSENT = "absent"
    UNHEALTHY = "unhealthy"
    LOST = "lost"
    RETRY = "retry"


_RAISED: Mapping[Outcome, type[AccelhalError]] = {
    Outcome.ABSENT: DeviceNotFoundError,
    Outcome.UNHEALTHY: DeviceUnhealthyError,
    Outcome.LOST: DeviceLostError,
    Outcome.RETRY: DeviceTimeoutError,
}


@dataclass(frozen=True)
class Code:
    """A return code of a driver library: its name in the header, and what it means."""

    name: str
    outcome: Outcome


class DriverLibrary:
    """The library of one vendor. Calls are made one at a time: most promise no thread safety.

    Args:
        backend: backend name, for messages.
        file: how the library is found.
        codes: return code -> meaning; 0 is success, and a code not listed an error.
        retries: how often a call is made again after a code that means RETRY.

    Raises:
        BackendLoadError: no file loads; the message has the loader's word on each.
    """

    def __init__(
        self, backend: str, file: LibraryFile, codes: Mapping[int, Code], retries: int = 2
    ) -> None:
        self._backend = backend
        self._codes = codes
        self._retries = retries
        self._lock = threading.RLock()
        self._symbols: dict[str, Any] = {}
        self._library, self.path = _load(backend, file)

    def has(self, name: str) -> bool:
        """Whether this release of the library has the function."""
        return self._symbol(name) is not None

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function that returns a code.

        Raises:
            NotReportedError: it has no value here, needs more rights, or is not in this release.
            DeviceNotFoundError, DeviceUnhealthyError, DeviceLostError, DeviceTimeoutError: by code.
            DeviceError: a code of no known meaning.
        """
        result = self.code(name, *arguments)
        if result != 0:
            self.refuse(name, result)

    def code(self, name: str, *arguments: Any) -> int:
        """Call a function and give its code, for callers whom some codes tell to ask otherwise.

        Raises:
            NotReportedError: this release does not have it.
        """
        for _ in range(1 + self._retries):
            result = int(self.value(name, *arguments))
            code = self._codes.get(result)
            if code is None or code.outcome is not Outcome.RETRY:
                break
        return result

    def value(self, name: str, *arguments: Any, kind: type[Any] = ctypes.c_int) -> Any:
        """Call a function that returns no code but a value of this C type.

        Raises:
            NotReportedError: this release does not have it.
        """
        symbol = self._symbol(name)
        if symbol is None:
            raise NotReportedError(f"this release of {self.path} has no {name}")
        with self._lock:
            symbol.restype = kind
            return symbol(*arguments)

    def refuse(self, name: str, result: int) -> NoReturn:
        """Raise what the code means; see `call`."""
        code = self._codes.get(result)
        text = f"{name} answered {result}" + (f" ({code.name})" if code else "")
        if code is not None and code.outcome is Outcome.NO_VALUE:
            raise NotReportedError(text)
        if code is not None and code.outcome is Outcome.NO_PERMISSION:
            raise NotReportedError(f"{text}: it needs more rights")
        raised = DeviceError if code is None else _RAISED[code.outcome]
        raise raised(f"{self._backend}: {text}", backend=self._backend, operation=name)

    def _symbol(self, name: str) -> Any:
        if name not in self._symbols:
            self._symbols[name] = getattr(self._library, name, None)
        return self._symbols[name]


def roomy(structure: type[Any], count: int = 1, spare: int = 256) -> Any:
    """An array of `count` structures with `spare` zeroed bytes behind it.

    Later releases of a driver write longer structures than the header in use knows.
    """
    size = ctypes.sizeof(structure) * count
    buffer = (ctypes.c_char * (size + spare))()
    return (structure * count).from_buffer(buffer)


def _load(backend: str, file: LibraryFile) -> tuple[ctypes.CDLL, str]:
    tried = []
    for path in file.candidates(os.environ):
        try:
            return ctypes.CDLL(path), path
        except OSError as error:
            tried.append(str(error))
    raise BackendLoadError(
        f"{backend}: {file.soname} does not load: {'; '.join(dict.fromkeys(tried))}",
        backend=backend,
        operation="open_management",
        hint=file.hint,
    )
