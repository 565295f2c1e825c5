"""The table of docs/doctor_checks.md; `python tests/doctor_document.py` writes it anew."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import accelhal_ascend.spec
import accelhal_cambricon.spec
import accelhal_cuda.spec

from accelhal.doctor.catalogue import catalogue
from accelhal.doctor.engine import SCENE_OPTIONS
from accelhal.spi.doctor import Check

DOCUMENT = Path(__file__).parents[1] / "docs" / "doctor_checks.md"

SPECS = (accelhal_cuda.spec.SPEC, accelhal_ascend.spec.SPEC, accelhal_cambricon.spec.SPEC)

_BLOCK = re.compile(r"(<!-- checks -->\n).*(<!-- end -->)", re.DOTALL)


def checks() -> tuple[Check, ...]:
    """Those of the core and of the three vendors' plugins."""
    return catalogue(SPECS).checks


def table() -> str:
    """A heading for each group, and a paragraph for each of its checks."""
    groups = dict.fromkeys(check.group for check in checks())
    return "\n".join(line for group in groups for line in _group(group))


def _group(group: str) -> Iterator[str]:
    yield from (f"## {group}", "")
    for check in checks():
        if check.group == group:
            option = SCENE_OPTIONS.get(check.cost)
            yield f"**`{check.id}`** {check.title}{f' (with `{option}`)' if option else ''}. "
            yield f"Reads: {'; '.join(check.reads)}."
            if check.depends_on:
                lower = ", ".join(f"`{name}`" for name in check.depends_on)
                yield f"Put down to: {lower}."
            yield from (check.explanation, "")


def written(text: str) -> str:
    """The document with its block made anew."""
    return _BLOCK.sub(lambda found: f"{found[1]}{table()}\n{found[2]}", text)


if __name__ == "__main__":
    DOCUMENT.write_text(written(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
