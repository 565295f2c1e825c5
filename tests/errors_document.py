"""The tables of docs/errors.md, made of the code; `python tests/errors_document.py` writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from accelhal_ascend import error_messages as ascend
from accelhal_cambricon import error_messages as cambricon
from accelhal_cuda import error_messages as cuda

from accelhal import errors
from accelhal.errors import AccelhalError, ErrorKind
from accelhal.runtimes.error_messages import MessageTable
from accelhal.runtimes.translation import typed_error

DOCUMENT = Path(__file__).parents[1] / "docs" / "errors.md"

_BLOCK = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def written(text: str) -> str:
    """The document with its tables as the code has them."""
    return _BLOCK.sub(lambda block: f"{block[1]}{TABLES[block[2]]()}{block[3]}", text)


def _kinds() -> str:
    rows = []
    for kind in ErrorKind:
        error = typed_error(kind, RuntimeError(), backend="x", device="x:0", operation="x")
        rows.append(
            (
                f"`{kind.name}`",
                kind.scope.value,
                "yes" if kind.sticky else "no",
                f"`{_documented_class(error)}`" if error else "the vendor's own error",
                (error.hint if error else None) or "",
            )
        )
    return _table(("kind", "spoils", "later calls fail", "the facade raises", "next"), rows)


def _documented_class(error: AccelhalError) -> str:
    """The nearest class of the error tree: torch's is mixed in where memory is exhausted."""
    return next(base.__name__ for base in type(error).__mro__ if base.__module__ == errors.__name__)


def _cuda() -> str:
    return _errors(
        {
            kind: [f"{code} {text}" for code, text in errors.items()]
            for kind, errors in cuda.CUDA_ERRORS.items()
        },
        cuda.MESSAGES,
    )


def _npu() -> str:
    codes: dict[ErrorKind, list[str]] = {}
    for code, kind in ascend.CODES.items():
        codes.setdefault(kind, []).append(str(code))
    return _errors(codes, (*ascend.DEVICE_LABELS, *ascend.MESSAGES))


def _mlu() -> str:
    return _errors({}, cambricon.MESSAGES)


def _errors(codes: Mapping[ErrorKind, list[str]], messages: MessageTable) -> str:
    rows = []
    for kind in ErrorKind:
        texts = [_shown(pattern) for pattern, of_kind in messages if of_kind is kind]
        if codes.get(kind) or texts:
            rows.append((f"`{kind.name}`", "; ".join([*codes.get(kind, []), *texts])))
    return _table(("kind", "errors"), rows)


def _shown(pattern: re.Pattern[str]) -> str:
    """A pattern as a reader wants it: without word limits, in code."""
    text = pattern.pattern.replace(cambricon.RUNTIME, "CNRT error: … ")
    for mark in (r"\b", "?:"):
        text = text.replace(mark, "")
    return f"`{text}`".replace("|", r"\|")


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


TABLES = {"kinds": _kinds, "cuda": _cuda, "npu": _npu, "mlu": _mlu}

if __name__ == "__main__":
    DOCUMENT.write_text(written(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
