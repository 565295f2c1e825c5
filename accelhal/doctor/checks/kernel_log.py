"""The kernel's log: faults that drivers number there, and what else boards suffer from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from accelhal.doctor.board_names import board_name
from accelhal.doctor.checks.hardware import ACTIONS, as_sure_as_its_source
from accelhal.doctor.commands import for_board
from accelhal.doctor.facts import Facts
from accelhal.doctor.fault_verdict import judge_boards
from accelhal.evidence.kernel_lines import CONTIGUOUS, KILLED, LOCKUP, PCIE_ERROR, TRACE_LINES
from accelhal.facts import BoardReading, Finding, FindingState
from accelhal.facts.faults import FaultVerdict
from accelhal.registry.extensions import load_extension
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check, NotShownError
from accelhal.spi.fault_log import count_restarts, read_fault_events
from accelhal.spi.fault_tables import FaultTables

_GROUP = "Hardware"

_ADDRESS = re.compile(r"\b[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b", re.IGNORECASE)


def log_lines(facts: Facts) -> Sequence[str]:
    """The log.

    Raises:
        NotShownError: it may not be read, or is not in the evidence.
    """
    lines = facts.record.kernel_log
    if lines is None:
        reason = facts.record.reasons.get("kernel_log", "")
        raise NotShownError("the kernel log", reason, ("sudo dmesg", "sudo accelhal doctor"))
    return lines


def family_check(family: str) -> Check:
    """The check of one of the numberings that drivers use in the kernel log."""

    def run(facts: Facts) -> Iterator[Finding]:
        users = [spec for spec in facts.specs if family in facts.vendor_host(spec).log_families]
        if facts.live and not any(facts.readings(spec.name) for spec in users):
            return
        lines = log_lines(facts)
        found = [fault for spec in users for fault in _faults(family, spec, lines, facts)]
        yield from found or [Finding(f"hw.{family}", "log.quiet", FindingState.OK)]

    return Check(
        f"hw.{family}",
        _GROUP,
        f"{family} faults in the kernel log since the last start",
        ("the kernel log",),
        run,
        explanation="Drivers write a board's faults into the kernel log under a number, the "
        f"{family}. The gravest since the last start decides; a fault of a job never marks the "
        "board; one that came back after two restarts asks for another board. The plugin's table "
        "says what each number means, with its source.",
    )


def _faults(
    family: str, spec: BackendSpec, lines: Sequence[str], facts: Facts
) -> Iterator[Finding]:
    tables = load_extension(spec, "faults", FaultTables)
    if tables is None:
        return
    events = [
        event for event in read_fault_events(lines, tables.read()) if event.fault.family == family
    ]
    verdicts = judge_boards(events, restarts=count_restarts(lines))
    for board, verdict in verdicts.items():
        if verdict.worst is not None:
            yield _fault(family, spec, board, verdict, facts)


def _fault(
    family: str, spec: BackendSpec, board: str | None, verdict: FaultVerdict, facts: Facts
) -> Finding:
    fault = verdict.worst
    assert fault is not None, "verdicts without a fault are passed over"
    reading = _named(board, facts.readings(spec.name))
    if verdict.state is FindingState.INFO:
        code = "log.of_job"
    else:
        code = "log.returns" if verdict.action.value == "rma" and verdict.returns else "log.fault"
    known = facts.vendor_host(spec).remedies.get(verdict.action, ACTIONS[verdict.action])
    commands = known if reading is None else for_board(known, reading)
    name = f"{spec.name} board {board}" if board else spec.name
    return Finding(
        f"hw.{family}",
        code,
        as_sure_as_its_source(verdict.state, fault),
        {
            "family": family,
            "code": fault.code,
            "meaning": fault.meaning,
            "count": verdict.count,
            "returns": verdict.returns,
            "follow_up": fault.follow_up,
        },
        name if reading is None else board_name(reading),
        commands=commands,
        needs_root=bool(commands),
        disturbs=verdict.action.value in ("reset", "reboot"),
        refs=(fault.source.text,),
    )


def _named(address: str | None, readings: Sequence[BoardReading]) -> BoardReading | None:
    """The board at an address; logs leave out the function, and zeros of the domain."""
    if address is None:
        return None
    wanted = _comparable(address)
    return next((r for r in readings if r.board.pci and _comparable(r.board.pci) == wanted), None)


def _comparable(address: str) -> str:
    return address.lower().partition(".")[0].lstrip("0")


def _other(facts: Facts) -> Iterator[Finding]:
    if facts.live and not facts.readings():
        return
    lines = log_lines(facts)
    found = [finding for finding in _rules(lines, facts) if finding is not None]
    yield from found or [Finding("kernel.log", "kernel.quiet", FindingState.OK)]


def _rules(lines: Sequence[str], facts: Facts) -> Iterator[Finding | None]:
    yield _lockups(lines, facts)
    pcie = [(line, found[1].lower()) for line in lines if (found := PCIE_ERROR.search(line))]
    bad = [line for line, severity in pcie if severity.startswith("uncorrect")]
    if bad:
        address = _ADDRESS.search(bad[-1])
        params: dict[str, str | int] = {
            "count": len(bad),
            "address": address[0] if address else "an unnamed port",
        }
        yield _finding("kernel.pcie", FindingState.WARN, params, bad[-1], ("sudo lspci -vvv",))
    elif pcie:
        count = {"count": len(pcie)}
        yield _finding("kernel.pcie_corrected", FindingState.INFO, count, pcie[-1][0], ())
    killed = [(line, found[1]) for line in lines if (found := KILLED.search(line))]
    if killed:
        params = {"count": len(killed), "process": killed[-1][1]}
        yield _finding("kernel.oom", FindingState.WARN, params, killed[-1][0], ("free -h",))
    failed = [line for line in lines if CONTIGUOUS.search(line)]
    if failed:
        commands = ("accelhal doctor --deep device.open", "cat /proc/cmdline")
        count = {"count": len(failed)}
        yield _finding("kernel.contiguous", FindingState.WARN, count, failed[-1], commands)


def _lockups(lines: Sequence[str], facts: Facts) -> Finding | None:
    places = [place for place, line in enumerate(lines) if LOCKUP.search(line)]
    if not places:
        return None
    trace = [line for place in places for line in lines[place : place + TRACE_LINES]]
    modules = [name for spec in facts.specs for name in facts.vendor_host(spec).modules]
    module = next((name for name in modules if any(name in line for line in trace)), None)
    params: dict[str, str | int] = {
        "count": len(places),
        "module": module or "none of the boards' drivers",
    }
    commands = ("sudo dmesg | grep -A60 'soft lockup'", "update the driver; reboot the host")
    return _finding("kernel.lockup", FindingState.WARN, params, lines[places[-1]], commands)


def _finding(
    code: str,
    state: FindingState,
    params: Mapping[str, str | int],
    line: str,
    commands: tuple[str, ...],
) -> Finding:
    evidence = {"kernel log": line.strip()[:200]}
    return Finding(
        "kernel.log", code, state, params, None, evidence, commands, needs_root=bool(commands)
    )


OTHER = Check(
    "kernel.log",
    "Host",
    "lockups, PCIe errors, ended processes and failed allocations in the kernel log",
    ("the kernel log",),
    _other,
    explanation="What else in the kernel log explains a sick or slow board: CPUs that did not "
    "leave kernel code, uncorrected PCIe errors, processes ended for lack of memory, failed "
    "allocations of contiguous memory (noise, unless a device does not start).",
)
