"""ACCELHAL_MOCK and ACCELHAL_MOCK_FAULTS: what boards to simulate where a program names none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from accelhal.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from accelhal_mock.simulation import Fault

DEFAULT_NAME = "mock"
DEFAULT_COUNT = 2
DEFAULT_PROFILE = "a100-80g"

BOARDS_VARIABLE = "ACCELHAL_MOCK"
"""For example "count=4,profile=a100-80g,memory=64MiB"."""

FAULTS_VARIABLE = "ACCELHAL_MOCK_FAULTS"
"""For example "lost@1:after=10;slow@0:factor=3"."""

_FIELDS = ("count", "profile", "memory", "mode", "clock", "hazards", "watchdog")


def settings_from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Arguments for `install`, as the two variables give them.

    Raises:
        UsageError: a variable has another form, or names an unknown field or fault.
    """
    settings = _boards(environ.get(BOARDS_VARIABLE, ""))
    faults = faults_from_environment(environ)
    if faults:
        settings["faults"] = faults
    return settings


def faults_from_environment(environ: Mapping[str, str]) -> tuple[Fault, ...]:
    """The faults that ACCELHAL_MOCK_FAULTS asks for.

    Raises:
        UsageError: it has another form, or names an unknown fault or field.
    """
    text = environ.get(FAULTS_VARIABLE, "").strip()
    if not text:
        return ()
    # Here, so that a probe of a host without faults loads no simulation.
    from accelhal_mock.simulation.faults import parse_faults

    try:
        return parse_faults(text)
    except UsageError as error:
        raise UsageError(
            f"{FAULTS_VARIABLE}={text!r}: {error.message}",
            operation="install",
            hint=error.hint,
        ) from error


@contextmanager
def variables_named(environ: Mapping[str, str]) -> Iterator[None]:
    """Context in which an error about a setting names the variables that the settings come from."""
    try:
        yield
    except UsageError as error:
        named = " ".join(
            f"{variable}={environ[variable]!r}"
            for variable in (BOARDS_VARIABLE, FAULTS_VARIABLE)
            if environ.get(variable)
        )
        text = f"{named}: {error.message}" if named else error.message
        raise UsageError(text, operation=error.operation, hint=error.hint) from error


def _boards(text: str) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise _wrong(text, f"{part!r} is not field=value", "count=4,profile=a100-80g")
        if name not in _FIELDS:
            did = did_you_mean(name, _FIELDS)
            raise _wrong(text, f"there is no field {name!r}", f"{did}known: {', '.join(_FIELDS)}")
        if name in settings:
            raise _wrong(text, f"field {name!r} stands twice", "give it once")
        settings[name] = _value(text, name, value)
    return settings


def _value(text: str, name: str, value: str) -> str | int | float:
    try:
        if name == "count":
            return int(value)
        return float(value) if name == "watchdog" else value
    except ValueError:
        raise _wrong(text, f"{name}={value!r} is not a number", f"{name}=4, for example") from None


def _wrong(text: str, reason: str, hint: str) -> UsageError:
    return UsageError(f"{BOARDS_VARIABLE}={text!r}: {reason}", operation="install", hint=hint)
