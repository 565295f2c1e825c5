"""`cat PATH`: a file of the host, known by the prompt above it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from accelhal.evidence.host_pages.kernel import modules_of
from accelhal.evidence.host_pages.page import PROMPT, HostPage, Shown, of_record, output

_CAT = re.compile(r"(?:sudo )?(?:cat|head|tail|more|less)(?: -\S+)* (?P<path>/[^\s*?;|&]+)\s*$")

MOST_CHARACTERS = 1 << 16
"""Of a file: version files are under one kilobyte."""


def _read(lines: Sequence[str]) -> Shown | None:
    path = _path(lines[0])
    body = output(lines)
    if path is None or not body:
        return None
    text = "\n".join(body)[:MOST_CHARACTERS]
    length = len(body) + 1
    if path == "/proc/cmdline":
        return of_record(length, command_line=body[0].strip())
    if path == "/proc/modules":
        return of_record(length, modules=modules_of(body))
    return of_record(length, files={path: f"{text}\n"})


def _path(line: str) -> str | None:
    prompt = PROMPT.match(line)
    typed = _CAT.fullmatch(prompt["command"]) if prompt else None
    return typed["path"] if typed else None


PAGE = HostPage("cat", lambda line: _path(line) is not None, _read)
