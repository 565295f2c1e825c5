"""The table of docs/conformance.md is whole: every group, every backend, and nothing failed."""

from __future__ import annotations

import re

from vendor_stacks.table import BACKENDS, BEGIN, END, PAGE

from accelhal.testing.suite import GROUPS


def cells() -> dict[str, list[str]]:
    text = PAGE.read_text().split(BEGIN)[1].split(END)[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {row[0].strip("`*"): row[1:] for row in rows}


def passed(cell: str) -> int:
    found = re.fullmatch(r"(\d+)(, \d+ n\.a\.)?", cell)
    assert found, f"{cell!r}: a rule failed, or the table was not written by its script"
    return int(found[1])


def test_every_group_and_backend_is_there_and_passes() -> None:
    table = cells()
    assert table.pop("group") == [f"`{name}`" for name in BACKENDS]
    totals = [passed(cell) for cell in table.pop("all")]
    assert list(table) == list(GROUPS)
    columns = zip(*table.values(), strict=True)
    assert [sum(map(passed, column)) for column in columns] == totals
