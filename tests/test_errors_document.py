"""docs/errors.md says what the code does."""

from __future__ import annotations

import errors_document

from accelhal.errors import ErrorKind


def test_the_tables_are_the_codes() -> None:
    text = errors_document.DOCUMENT.read_text(encoding="utf-8")
    assert errors_document.written(text) == text, "python tests/errors_document.py"


def test_every_kind_is_in_the_document() -> None:
    text = errors_document.DOCUMENT.read_text(encoding="utf-8")
    assert [kind.name for kind in ErrorKind if f"| `{kind.name}` |" not in text] == []
