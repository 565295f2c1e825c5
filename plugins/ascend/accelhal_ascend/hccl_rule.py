"""The doctor's net.hccl: whether the boards' own network ports can meet."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping

from accelhal.facts import Finding, FindingState
from accelhal.spi.doctor import Check, DoctorFacts, MessageRule, NotShownError, Text

CONFIGURATION = "/etc/hccn.conf"
"""Where hccn_tool keeps the ports' addresses, "address_0=192.0.2.1" and "netmask_0=..."."""

_ID = "net.hccl"
_LINE = re.compile(r"^(address|netmask)_([0-9]{1,3})=(\S+)$", re.MULTILINE)

_LOOK = (
    "for i in $(seq 0 7); do hccn_tool -i $i -link -g; hccn_tool -i $i -ip -g; done",
    "for i in $(seq 0 7); do hccn_tool -i $i -tls -g; done  # the same switch on every board",
    "ss -lntp | grep 16666  # HCCL listens there: nothing else may",
)

TEXTS: Mapping[str, Text] = {
    "hccl.one_board": Text("{device}: one board, no collective"),
    "hccl.addressed": Text("{device}: every board's port has an address"),
    "hccl.no_address": Text(
        "{device}: no address for the network port of boards {boards}",
        "HCCL joins the boards of several hosts over these ports; without an address it waits "
        "until its time is up.",
        "an address for every board in " + CONFIGURATION,
    ),
    "hccl.segments": Text(
        "{device}: the boards' ports are in networks {networks}",
        "Boards that exchange data must be in one network, or be routed to one another.",
        "one network for the ports that meet",
    ),
    "hccl.timed_out": Text(
        "{device}: HCCL waited for another board in vain",
        "The link between the boards was not made in time: a port without link or address, TLS on "
        "at one end alone, port 16666 in use, or a rank that died or started late.",
        "links up, one TLS setting, addresses of one network, port 16666 free",
    ),
    "hccl.port_taken": Text(
        "{device}: HCCL cannot listen on port {port}",
        "Another process of the host holds the port.",
        "the port is free, or another is chosen by HCCL_IF_BASE_PORT",
    ),
}

MESSAGES: tuple[MessageRule, ...] = (
    MessageRule(
        pattern=re.compile(r"\bEI0006\b|Getting socket times out|wait socket establish timeout"),
        needle="",
        check=_ID,
        code="hccl.timed_out",
        commands=_LOOK,
    ),
    MessageRule(
        pattern=re.compile(
            r"listen on ip\[[^\]]{1,64}\] and specific port\[(?P<port>[0-9]+)\] fail"
        ),
        needle="specific port[",
        check=_ID,
        code="hccl.port_taken",
        commands=("ss -lntp | grep {port}", "export HCCL_IF_BASE_PORT=50000"),
    ),
)


def _ports(facts: DoctorFacts) -> Iterator[Finding]:
    boards = [r.board for r in facts.readings("npu") if r.board.parent is None]
    if len(boards) < 2:
        if boards:
            yield Finding(_ID, "hccl.one_board", FindingState.OK, device="npu")
        return
    text = facts.record.files.get(CONFIGURATION)
    if text is None:
        reason = "it is not there, or only root may read it" if facts.live else ""
        raise NotShownError(CONFIGURATION, reason, (f"sudo cat {CONFIGURATION}", *_LOOK[:1]))
    found = {(what, int(board)): value for what, board, value in _LINE.findall(text)}
    numbers = range(len(boards))
    missing = [n for n in numbers if ("address", n) not in found]
    networks = {_network(found, n) for n in numbers if n not in missing}
    if missing:
        yield _fault("hccl.no_address", FindingState.FAIL, boards=", ".join(map(str, missing)))
    elif len(networks) > 1:
        shown = ", ".join(sorted(map(str, networks)))
        yield _fault("hccl.segments", FindingState.INFO, networks=shown)
    else:
        yield Finding(_ID, "hccl.addressed", FindingState.OK, device="npu")


def _network(found: Mapping[tuple[str, int], str], board: int) -> str:
    mask = found.get(("netmask", board), "255.255.255.0")
    try:
        return str(ipaddress.ip_network(f"{found['address', board]}/{mask}", strict=False))
    except ValueError:
        return f"{found['address', board]}/{mask}"


def _fault(code: str, state: FindingState, **params: str) -> Finding:
    return Finding(_ID, code, state, params, "npu", commands=_LOOK[:2], needs_root=True)


PORTS = Check(
    _ID,
    "Network",
    "whether the boards' own network ports have addresses, and what HCCL said of them",
    (CONFIGURATION, "lines of programs"),
    _ports,
    explanation="HCCL connects boards over ports of their own, set up by hccn_tool. A port without "
    "link or address, TLS on at one end alone, or port 16666 taken by another process make it wait "
    "120 s and end with EI0006. The hints look at each in turn.",
)
