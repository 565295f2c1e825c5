"""What a plugin adds to the doctor: what its vendor's hosts look like, and rules of its own."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from accelhal.facts import BoardReading, Evidence, Finding, FindingState
from accelhal.facts.compatibility import PairVerdict
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
        several: title for several findings of the code at once; `{devices}` lists theirs,
            `{number}` counts them.
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
        library_folders: where the vendor's installers put them, beside the loader's own.
        library_rule: what only this vendor's libraries can have, found under driver.userlib.
        packages: Python distributions whose versions matter.
        files: absolute globs of the version files that a record keeps; $NAME stands for the value
            of a variable, in `library_folders` too.
        services: systemd units that belong to the driver.
        variables: names of variables that a record may keep; no secrets are in them.
        debug_variables: see DebugVariable.
        mounts: paths of the host that a container needs beside the nodes.
        container_flags: what gives a container the boards ("docker run" options); one with {index}
            stands for as many as there are boards.
        remedies: action -> commands; {index}, {pci}, {tool_id}, {card} and {chip} are the board's.
        messages: what lines of programs mean.
        log_families: fault families that drivers write into the kernel log; each is a check
            hw.<family>.
        links: the word of the check link.<word>; empty where boards have no links.
        versions: component -> version in the words of the compatibility tables, from a record and
            the versions that the driver library or a captured page reports.
        same_release: two components of `versions` that must be of one release.
        install: commands that install or repair the driver; {kernel} is the running one.
        reload: commands that load the installed driver in the place of the running one.
        mend: commands that end what a look at the compatibility tables found.
        torch_build: name under which a build of torch for these boards lists its toolkit; empty
            where an adapter package brings them to any torch.
        chip_of: the chip of the board with a name, in the words of the tables; None for a name that
            it does not know.
        install_framework: commands that install the build of torch or the adapter that a look at
            the tables wants, or, without one, a build for these boards.
        toolkit_libraries: sonames that the adapter package needs of the vendor's toolkit.
        toolkit_folders: where toolkits put them; may have $NAME as in `files`.
        toolkit_setup: commands that put the toolkit into the environment.
        runtime_libraries: sonames of libraries whose file is named after the toolkit's release,
            which builds of torch bring along.
        slice_prefix: how the names of slices begin in the mask's variable; empty for none.
        one_slice: whether a process can use only one slice.
        make_slices: commands that list and make slices of the board {index}.
        repair_limits: repairs of a board's memory to warn of, and to replace it at.
        power_resets: commands that set the power limit of the board {index} to {watts} watts.
        clock_resets: commands that end a lock of the clocks of the board {index}.
        who_holds: commands that show who holds the boards.
        share_board: commands that let several processes use the board {index} at once.
        hang_trials: commands that show, or try without, what collectives hang on.
        allocator_settings: commands that let torch's allocator grow its segments.
        profilers: commands that show how kernels fill the compute units with threads.
        occupancy: a line of an exporter's or profiler's output that tells it; its groups are
            `index`, the driver's number of the board, and `share`, from 0 to 1.
        bandwidth_is_time: whether the driver's use of the memory's bandwidth is the share of time
            in which the memory was in use, not of its bytes.
    """

    modules: tuple[str, ...] = ()
    foreign_drivers: Mapping[str, str] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    library_folders: tuple[str, ...] = ()
    library_rule: Callable[[DoctorFacts], Iterable[Finding]] = lambda facts: ()
    packages: tuple[str, ...] = ()
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
    same_release: tuple[tuple[str, str], ...] = ()
    install: tuple[str, ...] = ()
    reload: tuple[str, ...] = ()
    mend: Callable[[PairVerdict], tuple[str, ...]] = lambda verdict: ()
    torch_build: str = ""
    chip_of: Callable[[str], str | None] = lambda name: None
    install_framework: Callable[[PairVerdict | None], tuple[str, ...]] = lambda verdict: ()
    toolkit_libraries: tuple[str, ...] = ()
    toolkit_folders: tuple[str, ...] = ()
    toolkit_setup: tuple[str, ...] = ()
    runtime_libraries: tuple[str, ...] = ()
    slice_prefix: str = ""
    one_slice: bool = False
    make_slices: tuple[str, ...] = ()
    who_holds: tuple[str, ...] = ()
    repair_limits: tuple[int, int] = (64, 64)
    power_resets: tuple[str, ...] = ()
    clock_resets: tuple[str, ...] = ()
    share_board: tuple[str, ...] = ()
    hang_trials: tuple[str, ...] = ()
    allocator_settings: tuple[str, ...] = ()
    profilers: tuple[str, ...] = ()
    occupancy: re.Pattern[str] | None = None
    bandwidth_is_time: bool = False
