"""The suite's results on every backend side by side: writes the table of docs/conformance.md.

    cd tests && python -m vendor_stacks.table [NAME=RESULT.json ...]

Runs each backend's suite (several minutes each), or takes the JSON of `accelhal conformance` where
one is given.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"
_LIMIT_S = 1800

Document = Mapping[str, Any]


def command(backend: str, **variables: str) -> Document:
    """What `accelhal conformance BACKEND --json` prints."""
    ended = subprocess.run(
        [sys.executable, "-m", "accelhal", "conformance", backend, "--json"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
    )
    document: Document = json.loads(ended.stdout)
    return document


def over_cann(folder: Path) -> Document:
    from vendor_stacks.cann.conformance import _CACHE, run_suite
    from vendor_stacks.cann.stack import install

    for each in (_CACHE, folder / "stack", folder / "before"):
        each.mkdir(parents=True, exist_ok=True)
    return run_suite(install(_CACHE, folder / "stack"), folder / "before")


def on_standin(folder: Path) -> Document:
    from vendor_stacks.mlu.standin import environment, make_neuware

    return command("mlu", **environment(make_neuware(folder / "neuware"), MLU_STANDIN_FORM="1.33"))


def on_simulated_binding(folder: Path) -> Document:
    from vendor_stacks.cuda.conformance import make_stack, run_suite

    return run_suite(make_stack(folder))


BACKENDS: Mapping[str, tuple[str, Callable[[Path], Document]]] = {
    "cpu": ("built in", lambda folder: command("cpu")),
    "mock": ("python mode", lambda folder: command("mock", ACCELHAL_MOCK="mode=python")),
    "npu": ("torch_npu 2.13.0 over a simulated CANN", over_cann),
    "mlu": ("stand-in of torch_mlu 1.33", on_standin),
    "cuda": ("torch's own torch.cuda over a simulated binding", on_simulated_binding),
}
"""Column -> what stands behind it, and how its suite is run."""


def table(results: Mapping[str, Document]) -> str:
    """Markdown: a row for each group, "passed" or "passed, n n.a." for each backend."""
    lines = [
        "| group | " + " | ".join(f"`{name}`" for name in results) + " |",
        "|---|" + "---|" * len(results),
    ]
    groups = [group["name"] for group in next(iter(results.values()))["groups"]]
    for group in groups:
        cells = [_cell(_group(document, group)) for document in results.values()]
        lines.append(f"| `{group}` | " + " | ".join(cells) + " |")
    totals = [_cell(_total(document)) for document in results.values()]
    lines.append("| **all** | " + " | ".join(totals) + " |")
    behind = "; ".join(f"`{name}`: {BACKENDS[name][0]}" for name in results)
    return "\n".join([*lines, "", f"Passed rules, then failed and not applicable ones. {behind}."])


def _group(document: Document, name: str) -> Mapping[str, int]:
    found: Mapping[str, int] = next(g for g in document["groups"] if g["name"] == name)
    return found


def _total(document: Document) -> Mapping[str, int]:
    counted = ("passed", "failed", "not_applicable")
    return {key: sum(group[key] for group in document["groups"]) for key in counted}


def _cell(counts: Mapping[str, int]) -> str:
    failed = f", **{counts['failed']} failed**" if counts["failed"] else ""
    absent = f", {counts['not_applicable']} n.a." if counts["not_applicable"] else ""
    return f"{counts['passed']}{failed}{absent}"


def write(text: str) -> None:
    page = PAGE.read_text()
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def main() -> None:
    given = dict(argument.split("=", 1) for argument in sys.argv[1:])
    results = {}
    for name, (_, run) in BACKENDS.items():
        print(name, file=sys.stderr)
        if name in given:
            results[name] = json.loads(Path(given[name]).read_text())
            continue
        with tempfile.TemporaryDirectory() as folder:
            results[name] = run(Path(folder))
    write(table(results))


if __name__ == "__main__":
    main()
