"""Values out of nvidia-smi's words; what is not plainly a value is none, and is quoted."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any, TypeVar

from accelhal.drivers.printed import MEBIBYTE, count, not_shown, number
from accelhal.drivers.readings import NotReportedError, collect, in_range
from accelhal_cuda.driver_words import COMPUTE_MODES
from accelhal_cuda.location import WHOLE_UUID

Facts = TypeVar("Facts")

NOT_SHOWN = "the page does not show it"

LOST = "GPU is lost"
"""nvmlErrorString(NVML_ERROR_GPU_IS_LOST), printed in a value's place."""

RESET_REQUIRED = "GPU requires reset"
"""nvmlErrorString(NVML_ERROR_RESET_REQUIRED), printed in a value's place."""

_NO_NAMES = frozenset(
    {
        "",
        "N/A",
        "ERR!",
        "None",
        "Unknown Error",
        "Not Supported",
        "Not Found",
        "Not Available",
        "Not available in WDDM driver model",
        "Insufficient Permissions",
        "Requested functionality has been deprecated",
        LOST,
        RESET_REQUIRED,
    }
)
"""Words in a value's place; some releases put them in brackets."""

_LONGEST_NAME = 96
"""NVML_DEVICE_NAME_V2_BUFFER_SIZE"""

_PROCESSES = 1 << 31
"""The kernel's pid_t is a signed int."""

_VERSION = re.compile(r"(\d+(?:\.\d+)+)(?: \[Deprecated\b[^]]*\])?", re.ASCII)
"""Since release 610 the driver's version is shown under two names, one marked as the old one."""

_COUNT = re.compile(r"\d{1,19}", re.ASCII)
_LANES = re.compile(r"(\d{1,2})x", re.ASCII)

celsius = partial(number, unit="C")
watts = partial(number, unit="W")
percent = partial(number, unit="%")
megahertz = partial(number, unit="MHz")


def memory(text: str) -> int:
    """Bytes out of MiB."""
    return int(in_range("memory_used", count(text, "MiB") * MEBIBYTE))


def rate(text: str) -> float:
    """Bytes per second out of KB/s."""
    return 1000.0 * number(text, "KB/s")


def lanes(text: str) -> int:
    """Lanes of a link ("16x")."""
    found = _LANES.fullmatch(text)
    if found is None:
        raise not_shown(text)
    return int(found[1])


def process(text: str) -> int:
    """The number of a process."""
    if _COUNT.fullmatch(text) is None or not 0 < int(text) < _PROCESSES:
        raise not_shown(text)
    return int(text)


def one_of(words: Mapping[str, Any]) -> Callable[[str], Any]:
    """A reader of words that each stand for a value."""

    def read(text: str) -> Any:
        if text not in words:
            raise not_shown(text)
        return words[text]

    return read


on_off = one_of({"On": True, "Off": False})
enabled = one_of({"Enabled": True, "Disabled": False})
yes_no = one_of({"Yes": True, "No": False})

compute_mode = one_of(
    {
        **{mode.title(): mode for mode in COMPUTE_MODES},
        "E. Thread": "exclusive_thread",
        "E. Process": "exclusive_process",
    }
)
"""The table has no room for the whole word."""


def name(text: str) -> str:
    """A product's name."""
    if text.strip("[]") in _NO_NAMES or len(text) > _LONGEST_NAME or not text.isprintable():
        raise not_shown(text)
    return text


def spelled(form: str) -> Callable[[str], str]:
    """A reader of text that has the form of a regular expression."""
    pattern = re.compile(form, re.ASCII)

    def read(text: str) -> str:
        if text in _NO_NAMES or pattern.fullmatch(text) is None:
            raise not_shown(text)
        return text

    return read


def uuid(text: str) -> str:
    """The driver's name of a board or a slice."""
    if WHOLE_UUID.fullmatch(text) is None:
        raise not_shown(text)
    return text


def version(text: str) -> str:
    """Numbers with points between."""
    found = _VERSION.fullmatch(text)
    if found is None:
        raise not_shown(text)
    return found[1]


def gathered(kind: type[Facts], readers: Mapping[str, Callable[[], Any]]) -> Facts | None:
    """The facts that a page shows, each in its range or None with the reason.

    Args:
        kind: a facts class with `reasons`.
        readers: field -> its reader.

    Returns:
        None where the page shows none of them.
    """
    names = [field.name for field in fields(kind) if field.name != "reasons"]  # type: ignore[arg-type]
    facts: Any = collect(kind, {**dict.fromkeys(names, _absent), **readers})
    reasons = {name: why for name, why in facts.reasons.items() if why != NOT_SHOWN}
    if not reasons and len(facts.reasons) == len(names):
        return None
    absent = {} if len(reasons) == len(facts.reasons) else {"*": NOT_SHOWN}
    return replace(facts, reasons={**reasons, **absent})  # type: ignore[no-any-return]


def _absent() -> Any:
    raise NotReportedError(NOT_SHOWN)
