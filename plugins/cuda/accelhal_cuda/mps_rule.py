"""The doctor's env.mps: the daemon through which processes share a board (CUDA MPS)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from accelhal.facts import BoardReading, Finding, FindingState
from accelhal.host import Host
from accelhal.spi.doctor import Check, DoctorFacts, NotShownError, Text

_ID = "env.mps"

PIPE_VARIABLE = "CUDA_MPS_PIPE_DIRECTORY"
_DEFAULT_PIPE = "/tmp/nvidia-mps"
_DAEMON = "nvidia-cuda-mps-control"
_SERVER = "nvidia-cuda-mps-server"

MOST_CLIENTS = 48
"""Clients of one server on Volta and newer (NVIDIA's manual of MPS, "Limitations")."""

_SEEN_LIMITS = ((r"\bA16\b", 5), (r"\bT4\b", 21), (r"\bA30\b", 30))
"""Replicas beyond which boards were seen to refuse clients (NVIDIA/k8s-device-plugin#1118)."""

QUIT = f"echo quit | {_DAEMON}"

_REFUSED = re.compile(
    r"all CUDA-capable devices are busy or unavailable|cudaErrorDevicesUnavailable"
    r"|MPS client.{0,40}(limit|maximum)|\b(error|code):? ?(46|808)\b",
    re.IGNORECASE,
)
"""Error 46; 808 is MPS's own for too many clients (cuda.h)."""

TEXTS: Mapping[str, Text] = {
    "mps.unused": Text("no MPS daemon, and no variable that asks for one"),
    "mps.running": Text("MPS runs: {clients} clients at most on one board, room for {limit}"),
    "mps.no_daemon": Text(
        "{variable}={pipe} asks for MPS, and no daemon answers there",
        "Programs find the folder without a daemon behind it, and run without MPS or fail.",
        "the daemon started with the same folder, or the variable unset",
    ),
    "mps.other_user": Text(
        "the MPS server belongs to user {owner}, this process to {own}",
        "A server takes clients of one user: others wait, or get error 807.",
        "the server stopped, or the job run as that user",
    ),
    "mps.full": Text(
        "{board}: {clients} MPS clients, room for {limit}",
        "The next process gets 'busy or unavailable'.",
        "fewer processes on the board",
    ),
    "mps.refused": Text(
        "a client was refused with MPS in use: boards take {limit} at most",
        "Each board has a limit of clients: beyond it they get 'busy or unavailable'.",
        "fewer replicas of the board",
    ),
    "mps.server": Text(
        "MPS is not ready for this process: {said}",
        "The control daemon runs, and its server belongs to another user or did not start: a "
        "server takes clients of one user.",
        "the server stopped, or the job run as its user",
    ),
}


@dataclass(frozen=True)
class _Process:
    name: str
    owner: int | None


def _mps(facts: DoctorFacts) -> Iterator[Finding]:
    variables = facts.host.environ
    processes = _processes(facts.host) if facts.live else ()
    daemon = any(one.name == _DAEMON for one in processes)
    refused = next((line for line in facts.record.messages if _REFUSED.search(line)), None)
    said = any("MPS" in line or "mps-" in line for line in facts.record.messages)
    if not (daemon or PIPE_VARIABLE in variables or (refused and said)):
        yield Finding(_ID, "mps.unused", FindingState.OK)
        return
    pipe = variables.get(PIPE_VARIABLE, _DEFAULT_PIPE)
    found = [*_of_owner(facts, processes), *_full(facts, daemon)]
    if facts.live and not daemon and not facts.contained and PIPE_VARIABLE in variables:
        found.append(_no_daemon(pipe))
    if refused is not None:
        found.append(_refused(facts, refused))
    if found:
        yield from found
    elif not facts.live:
        raise NotShownError("the MPS daemon", commands=(f"ps -C {_DAEMON},{_SERVER} -o user,pid",))
    else:
        clients = max((_clients(one) for one in _boards(facts)), default=0)
        params = {"clients": clients, "limit": _limit(facts)}
        yield Finding(_ID, "mps.running", FindingState.INFO, params)


def _processes(host: Host) -> tuple[_Process, ...]:
    """The daemon and its servers; the kernel's name of a process is too short to tell them."""
    found = []
    for path in host.glob("/proc/[0-9]*/comm"):
        if not (host.read_text(path) or "").startswith("nvidia-cuda-mps"):
            continue
        folder = path.rpartition("/")[0]
        program = (host.read_text(f"{folder}/cmdline") or "").split("\0")[0]
        found.append(_Process(program.rpartition("/")[2], _owner(host, folder)))
    return tuple(found)


def _owner(host: Host, folder: str) -> int | None:
    status = host.read_text(f"{folder}/status") or ""
    owner = re.search(r"^Uid:\s+\d+\s+(\d+)", status, re.MULTILINE)
    return int(owner[1]) if owner else None


def _of_owner(facts: DoctorFacts, processes: tuple[_Process, ...]) -> Iterator[Finding]:
    own = _owner(facts.host, "/proc/self") if facts.live else None
    owners = {one.owner for one in processes if one.name == _SERVER} - {None, own}
    if (
        own is not None
        and owners
        and not any(one.owner == own for one in processes if one.name == _SERVER)
    ):
        owner = min(one for one in owners if one is not None)
        yield Finding(
            _ID,
            "mps.other_user",
            FindingState.FAIL,
            {"owner": owner, "own": own},
            commands=(QUIT, f"sudo -u '#{owner}' <command>"),
            needs_root=True,
            disturbs=True,
        )


def _no_daemon(pipe: str) -> Finding:
    return Finding(
        _ID,
        "mps.no_daemon",
        FindingState.WARN,
        {"variable": PIPE_VARIABLE, "pipe": pipe},
        evidence={PIPE_VARIABLE: pipe},
        commands=(f"unset {PIPE_VARIABLE}", f"{PIPE_VARIABLE}={pipe} {_DAEMON} -d"),
    )


def _full(facts: DoctorFacts, daemon: bool) -> Iterator[Finding]:
    for reading in _boards(facts) if daemon else ():
        limit = _limit_of(reading.board.name)
        if _clients(reading) >= limit:
            board = f"board {reading.board.index}"
            yield Finding(
                _ID,
                "mps.full",
                FindingState.FAIL,
                {"board": board, "clients": _clients(reading), "limit": limit},
                evidence={board: f"{_clients(reading)} processes"},
                commands=("nvidia-smi --query-compute-apps=gpu_uuid,pid --format=csv",),
            )


def _refused(facts: DoctorFacts, line: str) -> Finding:
    return Finding(
        _ID,
        "mps.refused",
        FindingState.FAIL,
        {"limit": _limit(facts)},
        evidence={"message": line.strip()},
        commands=(
            "nvidia-smi --query-compute-apps=gpu_uuid,pid --format=csv",
            f"echo get_server_list | {_DAEMON}",
        ),
        confidence="likely",
        refs=("NVIDIA/k8s-device-plugin#1118",),
    )


def _boards(facts: DoctorFacts) -> list[BoardReading]:
    return [one for one in facts.readings("cuda") if one.board.parent is None]


def _clients(reading: BoardReading) -> int:
    return len(reading.processes or ())


def _limit(facts: DoctorFacts) -> int:
    return min((_limit_of(one.board.name) for one in _boards(facts)), default=MOST_CLIENTS)


def _limit_of(name: str) -> int:
    return next((most for pattern, most in _SEEN_LIMITS if re.search(pattern, name)), MOST_CLIENTS)


MPS = Check(
    _ID,
    "Environment",
    "the MPS daemon: does it run where programs look, for this user, with room for another",
    (PIPE_VARIABLE, "/proc", "the driver's library", "messages of programs"),
    _mps,
    explanation="With MPS, processes share a board through a server, which takes clients of one "
    f"user and at most {MOST_CLIENTS} of them (NVIDIA's manual); A16, T4 and A30 were seen to "
    "refuse more than 5, 21 and 30. A server of another user is a failure: end it with "
    f"`{QUIT}`, or run as that user. A variable that names a folder without a daemon is a warning.",
)
