"""What a check of a model found, on a screen and in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from accelhal.cli.exit_codes import ExitCode
from accelhal.operators.coverage import Coverage
from accelhal.operators.places import Place
from accelhal.operators.report import ModelCheck, OperatorUse, Verdict
from accelhal.operators.trace_on import TraceOn

EXIT_CODES: Mapping[Verdict, ExitCode] = {
    Verdict.RUNS: ExitCode.FINE,
    Verdict.LACKS_OPERATORS: ExitCode.FAILURE,
    Verdict.UNKNOWN: ExitCode.COULD_NOT_RUN,
}

WORDS: Mapping[Coverage, str] = {
    Coverage.MISSING: "missing",
    Coverage.FALLS_BACK: "falls back to CPU",
    Coverage.UNKNOWN: "unknown",
    Coverage.COMPOSITE: "composite",
    Coverage.NATIVE: "native",
}

_STYLES = {
    Coverage.MISSING: "bold red",
    Coverage.FALLS_BACK: "yellow",
    Coverage.UNKNOWN: "magenta",
    Coverage.COMPOSITE: "dim",
    Coverage.NATIVE: "green",
}

_TRACES = {
    TraceOn.CPU: "run on the CPU",
    TraceOn.FAKE: "traced by shapes alone",
    TraceOn.DEVICE: "run on the device",
}

_COLUMNS = ("Operator", "Runs as", "Pass", "Calls", "Time ms", "First places", "Remark")
SHOWN_OPERANDS = 2
"""Tensors of an operator's first call that are shown; JSON has them all."""

_RIGHT = ("Calls", "Time ms")
_NOTHING = "-"


def show_check(out: Console, check: ModelCheck, *, verbose: bool) -> None:
    """Print heading, counts, the table, and the closing lines."""
    out.print(Text(heading(check), "bold"))
    for line in sources(check):
        out.print(Text(line, "dim"))
    out.print()
    out.print(_counts(check))
    uses = shown(check, verbose=verbose)
    if uses:
        out.print()
        out.print(_table(uses))
    out.print()
    style = {Verdict.RUNS: "green", Verdict.LACKS_OPERATORS: "red", Verdict.UNKNOWN: "magenta"}
    out.print(Text(closing(check), style[check.verdict]))


def markdown(check: ModelCheck, *, verbose: bool) -> str:
    """The same as a section of a Markdown document."""
    lines = [f"### {heading(check)}", "", *sources(check), "", _counts(check).plain, ""]
    uses = shown(check, verbose=verbose)
    if uses:
        lines += [_line(_COLUMNS), _line(["---"] * len(_COLUMNS))]
        lines += [_line(_cells(use)) for use in uses]
        lines.append("")
    return "\n".join([*lines, closing(check), ""])


def heading(check: ModelCheck) -> str:
    """The model, the device, and how it was looked at, in one line."""
    return f"{check.model} for {check.device}, {_TRACES[check.trace]} (torch {check.torch_version})"


def sources(check: ModelCheck) -> list[str]:
    """Where the knowledge comes from, and what limits it."""
    lines = [f"operators of the backend: {check.source}"]
    return [*lines, check.remark] if check.remark else lines


def shown(check: ModelCheck, *, verbose: bool) -> list[OperatorUse]:
    """The operators to show: all, or those that the backend does not simply run."""
    plain = (Coverage.NATIVE, Coverage.COMPOSITE)
    return [use for use in check.operators if verbose or use.coverage not in plain or use.reason]


def closing(check: ModelCheck) -> str:
    """The verdict, and the time that falls back."""
    counts = check.counts
    if check.verdict is Verdict.RUNS:
        text = "Every operator runs on the device."
    elif not check.operators:
        text = "No operator was seen; those that a thread of the model's own runs are not."
    elif check.verdict is Verdict.UNKNOWN:
        text = f"Of {_operators(counts[Coverage.UNKNOWN])} it is not known how the device runs it."
    else:
        missing, fallen = counts[Coverage.MISSING], counts[Coverage.FALLS_BACK]
        parts = [f"{_operators(missing)} missing on the device"] if missing else []
        parts += [f"{_operators(fallen)} falling back to the CPU"] if fallen else []
        text = f"{', '.join(parts)}."
    if check.ended_early is not None:
        text += f" The run ended there: {check.ended_early}."
    if check.fallback_percent and check.time_ms is not None:
        share = f"{check.fallback_percent:.1f} % of the operators' {check.time_ms:.1f} ms"
        if check.trace is TraceOn.DEVICE:
            text += f" Falling back takes {share} on the device."
        else:
            text += (
                f" What falls back takes {share} in this run on the CPU; on the device the rest is "
                "faster, and copies are added."
            )
    return text


def _operators(count: int) -> str:
    return f"{count} operator{'s' * (count != 1)}"


def _counts(check: ModelCheck) -> Text:
    parts = [
        Text(f"{count} {WORDS[coverage]}", _STYLES[coverage])
        for coverage, count in check.counts.items()
        if count
    ]
    return Text(", ").join(parts) if parts else Text("no operators")


def _table(uses: Sequence[OperatorUse]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for column in _COLUMNS:
        table.add_column(column, justify="right" if column in _RIGHT else "left", overflow="fold")
    for use in uses:
        name, runs_as, *rest = _cells(use, separator="\n")
        table.add_row(name, Text(runs_as, _STYLES[use.coverage]), *map(Text, rest))
    return table


def _cells(use: OperatorUse, separator: str = "; ") -> tuple[str, ...]:
    return (
        use.name,
        WORDS[use.coverage],
        use.phase.value,
        f"{use.calls:,}",
        _NOTHING if use.time_ms is None else f"{use.time_ms:.3g}",
        separator.join(_place(place) for place in use.places) or _NOTHING,
        "; ".join(part for part in (use.reason, _operands(use)) if part),
    )


def _operands(use: OperatorUse) -> str:
    more = len(use.operands) - SHOWN_OPERANDS
    shown = ", ".join(use.operands[:SHOWN_OPERANDS])
    return f"{shown} and {more} more" if more > 0 else shown


def _place(place: Place) -> str:
    parts = [part for part in (place.source, place.module and f"in {place.module}") if part]
    return " ".join(parts) or _NOTHING


def _line(cells: Sequence[str]) -> str:
    escaped = (" ".join(cell.replace("|", "\\|").split()) for cell in cells)
    return f"| {' | '.join(escaped)} |"
