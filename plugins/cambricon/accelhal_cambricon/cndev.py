"""libcndev.so: found, started, and asked in the version of its structures that it knows."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any, TypeVar

from accelhal.drivers.library import Code, DriverLibrary, Outcome, roomy
from accelhal.drivers.readings import NotReportedError
from accelhal.errors import AccelhalError, BackendLoadError, message_of
from accelhal_cambricon.cndev_library import LIBRARY

SOURCE = "CNDev"

CODES: Mapping[int, Code] = {
    1: Code("NO_DRIVER", Outcome.UNHEALTHY),
    2: Code("LOW_DRIVER_VERSION", Outcome.NO_VALUE),
    3: Code("UNSUPPORTED_API_VERSION", Outcome.NO_VALUE),
    5: Code("INVALID_ARGUMENT", Outcome.NO_VALUE),
    6: Code("INVALID_DEVICE_ID", Outcome.ABSENT),
    7: Code("UNKNOWN", Outcome.NO_VALUE),
    8: Code("MALLOC", Outcome.NO_VALUE),
    9: Code("INSUFFICIENT_SPACE", Outcome.NO_VALUE),
    10: Code("NOT_SUPPORTED", Outcome.NO_VALUE),
    11: Code("INVALID_LINK", Outcome.NO_VALUE),
    12: Code("NO_DEVICES", Outcome.ABSENT),
    13: Code("NO_PERMISSION", Outcome.NO_PERMISSION),
    14: Code("NOT_FOUND", Outcome.NO_VALUE),
    15: Code("IN_USE", Outcome.NO_VALUE),
    17: Code("TIMEOUT", Outcome.RETRY),
    18: Code("IN_PROBLEM", Outcome.UNHEALTHY),
}
"""cndevRet_t of cndev.h."""

_UNSUPPORTED_VERSION, _TOO_SMALL = 3, 9

_VERSIONS = (6, 5)
"""CNDEV_VERSION_n: of the header that our structures are from, and of those before 2.0.11."""

_UNWRITTEN = 0xA5
"""What every output holds before the call: an older library fills in a beginning of it."""

_FIRST_ROOM, _MOST_ROOM = 32, 4096
"""Entries that a list call is given room for."""

_GROWTHS = 8
"""How often a list that grows is asked for again."""

Structure = TypeVar("Structure", bound=ctypes.Structure)


class Cndev:
    """The started library. It stays so: what a release does to other threads is not documented.

    Raises:
        BackendLoadError: the library does not load, or does not start.
    """

    def __init__(self) -> None:
        self.library = DriverLibrary("mlu", LIBRARY, CODES)
        try:
            self.library.call("cndevInit", 0)
        except (AccelhalError, NotReportedError) as error:
            why = message_of(error) if isinstance(error, AccelhalError) else str(error)
            raise BackendLoadError(
                f"mlu: libcndev.so does not start: {why}",
                backend="mlu",
                operation="open_management",
                hint="cnmon shows whether driver and boards are well; in a container, pass "
                "/dev/cambricon_ctl and the boards' nodes in",
            ) from error

    def read(
        self,
        name: str,
        kind: type[Structure],
        *places: int,
        before: tuple[int, ...] = (),
        blank: int = _UNWRITTEN,
        **inputs: int,
    ) -> Structure:
        """The structure that a call fills in. Take its fields by `written`, `number` and `flag`.

        Args:
            name: the function.
            kind: the structure.
            places: its arguments behind the structure: the board's handle, the link.
            before: its arguments before the structure.
            blank: what every byte of the structure holds before the call.
            inputs: fields of the structure that are the caller's to fill in.
        """
        found: Any = None

        def ask(version: int) -> int:
            nonlocal found
            found = _output(kind, 1, version, blank)
            for field, value in inputs.items():
                setattr(found[0], field, value)
            return self.library.code(name, *before, found, *places)

        self._ask(name, ask)
        return found[0]  # type: ignore[no-any-return]

    def read_pair(
        self, name: str, kind: type[Structure], *places: Any
    ) -> tuple[Structure, Structure]:
        """The two structures that a call fills in."""
        found: tuple[Any, Any] = ((), ())

        def ask(version: int) -> int:
            nonlocal found
            found = _output(kind, 1, version), _output(kind, 1, version)
            return self.library.code(name, *found, *places)

        self._ask(name, ask)
        return found[0][0], found[1][0]

    def read_list(self, name: str, kind: type[Structure], *places: Any) -> list[Structure]:
        """The entries of a call that takes the room there is and answers how many they are."""
        found: Any = ()
        count = ctypes.c_uint(0)

        def ask(version: int) -> int:
            nonlocal found, count
            room = _FIRST_ROOM
            for _ in range(_GROWTHS):
                found, count = _output(kind, room, version), ctypes.c_uint(room)
                result = self.library.code(name, ctypes.byref(count), found, *places)
                if result != _TOO_SMALL:
                    break
                # Entries come and go: a little more room than was asked for.
                room = min(max(count.value, room) + room, _MOST_ROOM)
            return result

        self._ask(name, ask)
        return list(found[: count.value])

    def numbers(self, name: str, count: int, *places: Any) -> list[int]:
        """The unsigned numbers that a call without a structure fills in, one pointer each."""
        found = [roomy(ctypes.c_uint) for _ in range(count)]
        self.library.call(name, *found, *places)
        return [int(one[0]) for one in found]

    def text(self, name: str, number: int) -> str:
        """The text that a call returns for a handle or an enumerator.

        Raises:
            NotReportedError: it has none, or calls it unknown.
        """
        found = self.library.value(name, ctypes.c_int(number), kind=ctypes.c_char_p)
        text = text_of(found or b"")
        if text.lower() == "unknown":
            raise NotReportedError(f"{name} answered {text!r}")
        return text

    def _ask(self, name: str, ask: Any) -> None:
        """Ask in the newest version, then in the older one where the library knows no newer."""
        for version in _VERSIONS:
            result = ask(version)
            if result != _UNSUPPORTED_VERSION:
                break
        if result != 0:
            self.library.refuse(name, result)


def _output(kind: type[Structure], count: int, version: int, blank: int = _UNWRITTEN) -> Any:
    found = roomy(kind, count)
    ctypes.memset(found, blank, ctypes.sizeof(found))
    # Not every structure has the field; of an array the first entry speaks for all.
    if kind._fields_[0][0] == "version":
        found[0].version = version
    return found


def written(structure: ctypes.Structure, name: str) -> Any:
    """The field as the library left it.

    Raises:
        NotReportedError: it did not write it: its release ends the structure before.
    """
    field = getattr(type(structure), name)
    raw = memoryview(structure).cast("B")[field.offset : field.offset + field.size]
    if bytes(raw) == bytes([_UNWRITTEN]) * field.size:
        raise NotReportedError(f"this release of libcndev.so does not fill in {name}")
    return getattr(structure, name)


def number(structure: ctypes.Structure, name: str) -> int:
    """The number in a field.

    Raises:
        NotReportedError: it was not written, or all its bits are ones.
    """
    value = int(written(structure, name))
    ones = (1 << 8 * getattr(type(structure), name).size) - 1
    if value == ones:
        raise NotReportedError(f"the driver answered no {name}")
    return value


def flag(structure: ctypes.Structure, name: str) -> bool:
    """A field that is 0 or 1."""
    value = written(structure, name)
    if value not in (0, 1):
        raise NotReportedError(f"the driver answered {value} for {name}, neither off nor on")
    return bool(value)


def dotted(numbers: Any) -> str:
    """A version of three numbers."""
    found = tuple(numbers)
    if not any(found) or any(part > _LARGEST_PART for part in found):
        raise NotReportedError("the driver's version is empty")
    return ".".join(map(str, found))


_LARGEST_PART = 1 << 24


def text_of(raw: Any) -> str:
    """The text in a buffer of bytes, which fills it or ends at the first NUL.

    Raises:
        NotReportedError: there is none.
    """
    text = bytes(raw).partition(b"\0")[0].decode(errors="replace").strip()
    if text in ("", "NA", "N/A", "-") or not text.isprintable():
        raise NotReportedError("the driver's text is empty")
    return text
