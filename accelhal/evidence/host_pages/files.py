"""`cat PATH`: a file that plugins ask for, known by the prompt above it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import takewhile

from accelhal.evidence.host_pages.kernel import modules_of
from accelhal.evidence.host_pages.page import PROMPT, HostPage, Shown, of_record, output

_CAT = re.compile(r"(?:sudo )?(?:cat|head|tail|more|less)(?: -\S+)* (?P<path>/[^\s*?;|&]+)\s*$")
_REFUSED = re.compile(r"(?:\S*/)?(?:cat|head|tail|more|less): ")
"""How these commands begin to say that they cannot read a file."""

_VARIABLE = re.compile(r"\$\w+|\$\{\w+\}")
"""In a glob: its value on the host is not known."""

_COMMAND_LINE, _MODULES = "/proc/cmdline", "/proc/modules"

MOST_CHARACTERS = 1 << 16
"""Of a file: version files are under one kilobyte."""


def page(asked: Iterable[str]) -> HostPage:
    """The page; other files than these are read for what stands in them.

    Args:
        asked: absolute globs, as `VendorHost.files` has them.
    """
    patterns = [_VARIABLE.sub("*", pattern) for pattern in asked]

    def path_of(line: str) -> str | None:
        path = _path(line)
        known = path in (_COMMAND_LINE, _MODULES) or any(
            fnmatchcase(path or "", each) for each in patterns
        )
        return path if known else None

    def read(lines: Sequence[str]) -> Shown | None:
        path = path_of(lines[0])
        return None if path is None else _read(path, lines)

    return HostPage("cat", lambda line: path_of(line) is not None, read)


def _read(path: str, lines: Sequence[str]) -> Shown | None:
    body = list(takewhile(str.strip, output(lines)))
    if not body or _REFUSED.match(body[0]):
        return None
    text = "\n".join(body)[:MOST_CHARACTERS]
    length = len(body) + 1
    if path == _COMMAND_LINE:
        return of_record(length, command_line=body[0].strip())
    if path == _MODULES:
        return of_record(length, modules=modules_of(body))
    return of_record(length, files={path: f"{text}\n"})


def _path(line: str) -> str | None:
    prompt = PROMPT.match(line)
    typed = _CAT.fullmatch(prompt["command"]) if prompt else None
    return typed["path"] if typed else None
