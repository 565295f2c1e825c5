"""Error numbers in lines of programs: told from process ids and counters of the same digits."""

from __future__ import annotations

import re


def error_number(number: str) -> re.Pattern[str]:
    """A pattern of lines that call the number an error, a code or a result.

    Args:
        number: expression for it ("107001"); the pattern's group `error` has what it found.
    """
    return re.compile(
        r"(?i:err|error|code|errcode|errno|ret|retcode|retval|result|answered|status|\w+Error)"
        r"(?:\W{1,3}(?i:is|was|no|num|number|value))?\W{1,4}?"
        rf"(?P<error>{number})\b"
    )
