"""What a plugin adds to the doctor: what its vendor's hosts look like, and rules of its own."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from accelhal.facts import BoardReading, Evidence, Finding, FindingState
from accelhal.facts.faults import FaultAction
from accelhal.facts.host_record import HostRecord
from accelhal.host import Host


class Cost(str, Enum):
    """What a check takes, and so when it runs."""

    FILES = "files"  # reads files, the environment and the driver libraries; always runs
    CHILD = "child"  # starts child processes; runs under --deep
    BOARD = "board"  # computes on the boards for seconds; runs under --measure
    WATCH = "watch"  # looks at the boards for as long as --watch says


@dataclass(frozen=True)
class Text:
    """Templates of one code; `{name}` is a parameter of the finding, `{device}` its device.

    Attributes:
        title: what was found, in one line.
        cause: why it is so, or what it leads to.
        expected: what would be right.
        several: title for several findings of the code at once; `{devices}` lists theirs.
    """

    title: str
    cause: str = ""
    expected: str = ""
    several: str = ""


class NotShownError(Exception):
    """What a check asks for cannot be seen here, or is not in the evidence: the answer is unknown.

    Attributes:
        what: what is missing ("the kernel log").
        reason: why; empty where nobody looked.
        commands: what shows it.
    """

    def __init__(self, what: str, reason: str = "", commands: tuple[str, ...] = ()) -> None:
        super().__init__(f"{what}: {reason or 'not in the evidence'}")
        self.what = what
        self.reason = reason
        self.commands = commands


class DoctorFacts(ABC):
    """What checks judge: this host, or the evidence of another.

    Attributes:
        live: False for evidence of a host that cannot be asked.
        host: files and environment. For evidence an empty tree with the variables that it shows:
            take what `record` has from there.
    """

    live: bool
    host: Host

    @property
    @abstractmethod
    def contained(self) -> bool:
        """Whether it is a container."""

    @property
    @abstractmethod
    def record(self) -> HostRecord:
        """The host, its boards apart."""

    @abstractmethod
    def evidence(self, backend: str) -> Evidence | None:
        """What is seen of a backend's boards; None where it has none, or nobody looked."""

    @abstractmethod
    def readings(self, backend: str | None = None) -> Sequence[BoardReading]:
        """The boards of a backend, or of all that have one; --device may limit them."""

    @abstractmethod
    def versions(self, backend: str) -> Mapping[str, str]:
        """Component -> version as far as seen, in the words of the compatibility tables."""


@dataclass(frozen=True)
class Check:
    """One question asked of the host.

    Attributes:
        id: "group.word", stable for ever: it stands in scripts.
        group: the heading it is shown under.
        title: what it looks at, in one line.
        reads: where it looks.
        run: the question itself. A finding's `device` names the backend or the board it is about;
            None means the whole host. It may raise NotShownError.
        cost: what it takes.
        depends_on: checks of lower layers, whose failure explains a failure of this one.
        explanation: for --explain: the rule, its thresholds with their source, and what to do.
    """

    id: str
    group: str
    title: str
    reads: tuple[str, ...]
    run: Callable[..., Iterable[Finding]]
    cost: Cost = Cost.FILES
    depends_on: tuple[str, ...] = ()
    explanation: str = ""


@dataclass(frozen=True)
class DoctorRules:
    """The value of the extension "doctor_rules": checks that only this vendor's hosts need.

    Attributes:
        checks: lower layers first; each `run` takes a DoctorFacts.
        texts: of their codes, and of those in the vendor's `MessageRule`s.
    """

    checks: tuple[Check, ...]
    texts: Mapping[str, Text] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class MessageRule:
    """What a line says that a program, the loader or the vendor's tool printed.

    Attributes:
        pattern: searched in the line; its named groups become parameters of the finding.
        needle: a text that every matching line has; lines without it are not searched.
        check: the check that reports it.
        code: the text's code.
        state: outcome.
        commands: what to type next; a group's name in braces stands for what it found.
        needs_root: True where a command needs administrator rights.
        disturbs: True where a command disturbs running jobs.
        only_contained: True for a rule of containers, False for one of bare hosts; None for both.
    """

    pattern: re.Pattern[str]
    needle: str
    check: str
    code: str
    state: FindingState = FindingState.FAIL
    commands: tuple[str, ...] = ()
    needs_root: bool = False
    disturbs: bool = False
    only_contained: bool | None = None


@dataclass(frozen=True, kw_only=True)
class DebugVariable:
    """A variable that helps to find an error and costs speed while it stays set.

    Attributes:
        name: its name.
        harmless: values with which it does nothing; unset is one.
        effect: what it does.
        when: when to set it.
    """

    name: str
    harmless: tuple[str, ...] = ("", "0")
    effect: str
    when: str


@dataclass(frozen=True, kw_only=True)
class VendorHost:
    """The value of the extension "doctor_facts": what a host with this vendor's boards looks like.

    Attributes:
        modules: kernel modules, any of which is the driver.
        foreign_drivers: kernel driver that takes the boards from the vendor's -> how to undo it.
        libraries: sonames that programs need of the driver.
        files: absolute globs of the version files that a record keeps.
        services: systemd units that belong to the driver.
        variables: names of variables that a record may keep; no secrets are in them.
        debug_variables: see DebugVariable.
        mounts: paths of the host that a container needs beside the nodes.
        container_flags: what gives a container the boards ("docker run" options).
        remedies: action -> commands; {index}, {pci} and {tool_id} are the board's.
        messages: what lines of programs mean.
        log_families: fault families that drivers write into the kernel log; each is a check
            hw.<family>.
        links: the word of the check link.<word>; empty where boards have no links.
        versions: component -> version in the words of the compatibility tables, from a record and
            the versions that the driver library or a captured page reports.
        install: commands that install or repair the driver.
    """

    modules: tuple[str, ...] = ()
    foreign_drivers: Mapping[str, str] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    debug_variables: tuple[DebugVariable, ...] = ()
    mounts: tuple[str, ...] = ()
    container_flags: tuple[str, ...] = ()
    remedies: Mapping[FaultAction, tuple[str, ...]] = field(default_factory=dict)
    messages: tuple[MessageRule, ...] = ()
    log_families: tuple[str, ...] = ()
    links: str = ""
    versions: Callable[[HostRecord, Mapping[str, str]], Mapping[str, str]] = (
        lambda record, reported: reported
    )
    install: tuple[str, ...] = ()
