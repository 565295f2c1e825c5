"""The simulation of this process: put in place, configured anew, and taken away."""

from __future__ import annotations

import importlib
import math
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from accelhal.errors import UsageError
from accelhal.facts.byte_size import parse_size
from accelhal.host import Host
from accelhal.runtimes.torch_loading import privateuse1_owner
from accelhal_mock.environment import (
    DEFAULT_COUNT,
    DEFAULT_NAME,
    DEFAULT_PROFILE,
    settings_from_environment,
    variables_named,
)
from accelhal_mock.mode import Mode, ModeChoice, choose_mode
from accelhal_mock.profiles import BoardProfile, load_profile
from accelhal_mock.simulation import Fault, Machine, MachineConfig
from accelhal_mock.simulation.faults.catalogue import make_fault
from accelhal_mock.simulation.faults.notation import parse_faults
from accelhal_mock.simulation.hazards import HazardMode
from accelhal_mock.simulation.machine import DEFAULT_WATCHDOG

ProfileSource = str | Path | Mapping[str, Any] | BoardProfile


@dataclass(frozen=True)
class Installation:
    """What is installed.

    Attributes:
        machine: the simulated boards.
        choice: the mode, and why.
    """

    machine: Machine
    choice: ModeChoice


_lock = threading.RLock()
_current: Installation | None = None
_machines: dict[str, Machine] = {}
_taken_away = False  # by the program; not by the end of a test


def install(
    count: int | None = None,
    profile: ProfileSource | Sequence[ProfileSource] = DEFAULT_PROFILE,
    memory: int | str | None = None,
    *,
    mode: Mode | None = None,
    clock: Literal["virtual", "real"] = "virtual",
    hazards: HazardMode = "warn",
    name: str = DEFAULT_NAME,
    faults: str | Sequence[Fault] = (),
    watchdog: float = DEFAULT_WATCHDOG,
) -> Installation:
    """Put simulated boards in place; called again, put new ones in their place.

    Args:
        count: boards, 1 to 16; 2 when None, or as many as there are profiles in a list.
        profile: what the boards are: a name, a mapping, a .json or .toml file, or a list of those,
            one for each board.
        memory: of each board ("64MiB", or bytes), in place of the profile's.
        mode: "python" (real torch devices), "plain" (torch devices stay cpu); None for what fits.
        clock: "virtual" (waiting advances it) or "real" (waiting sleeps).
        hazards: what to do about a missing wait: "raise", "warn" or "off".
        name: the device type that the boards appear as.
        faults: armed from the start, as in ACCELHAL_MOCK_FAULTS or as a list.
        watchdog: seconds after which a wait for work that hangs is given up.

    Raises:
        UsageError: an argument is wrong, or the mode or name cannot be had; the message names it.
    """
    config = configure(count, profile, memory, clock, hazards, name, faults, watchdog)
    with _lock:
        return _put_in_place(name, config, _choice(mode, name))


def configure(
    count: int | None = None,
    profile: ProfileSource | Sequence[ProfileSource] = DEFAULT_PROFILE,
    memory: int | str | None = None,
    clock: Literal["virtual", "real"] = "virtual",
    hazards: HazardMode = "warn",
    name: str = DEFAULT_NAME,
    faults: str | Sequence[Fault] = (),
    watchdog: float = DEFAULT_WATCHDOG,
) -> MachineConfig:
    """The arguments of `install` as a machine takes them; nothing is installed.

    Raises:
        UsageError: an argument is wrong; the message names it.
    """
    _check_kinds(name, faults, watchdog)
    return MachineConfig(
        profiles=_profiles(count, profile),
        memory=None if memory is None else parse_size(memory),
        clock=clock,
        hazards=hazards,
        faults=parse_faults(faults) if isinstance(faults, str) else tuple(faults),
        watchdog=watchdog,
    )


def install_from_environment() -> Installation:
    """What is installed, or what ACCELHAL_MOCK and ACCELHAL_MOCK_FAULTS ask for."""
    with _lock:
        if _current is not None:
            return _current
        settings = settings_from_environment(os.environ)
        with variables_named(os.environ):
            return install(**settings)


def uninstall() -> None:
    """Take the boards away: no device is counted any more, and nothing acts on torch."""
    global _taken_away
    with _lock:
        _take_away()
        _taken_away = True


def _take_away() -> None:
    global _current
    _hide_from_torch()
    _current = None


@contextmanager
def preserved() -> Iterator[None]:
    """Context that puts back what was installed before it: the same kind of boards, as new."""
    before = _current
    config = None if before is None else before.machine.config
    try:
        yield
    finally:
        with _lock:
            if before is None or config is None:
                _take_away()
            else:
                _put_in_place(before.machine.name, config, before.choice)


def installed() -> Installation | None:
    """What is installed now, or None."""
    return _current


def machine() -> Machine:
    """The simulated boards.

    Raises:
        UsageError: nothing is installed.
    """
    if _current is None:
        raise UsageError(
            "no simulated boards are installed",
            operation="accelhal_mock",
            hint="call accelhal_mock.install() first",
        )
    return _current.machine


def board_count(mode: Mode) -> int:
    """Boards that are installed; 0 where the program took them away.

    Where none were installed yet, or a test has ended, they install themselves.

    Raises:
        UsageError: they are installed in another mode than the one that accelhal opened.
    """
    if _current is None and _taken_away:
        return 0
    current = install_from_environment()
    if current.choice.mode != mode:
        raise UsageError(
            f"accelhal opened the simulated boards in {mode} mode, and they are now installed in "
            f"{current.choice.mode} mode",
            operation="device_count",
            hint=f'install(mode="{mode}"), or use another process',
        )
    return len(current.machine.boards)


def inject(kind: str, device: int = 0, **settings: object) -> Fault:
    """Let something go wrong with a board.

    Args:
        kind: a fault: oom, lost, hang, slow, wrong_result, ecc_corrected, ecc_uncorrected,
            row_remap_pending, thermal_throttle, power_cap, link_down, pcie_width_drop,
            library_missing, library_broken or permission_denied.
        device: index of the board.
        **settings: when it strikes (`after`, `operations`, `seconds`, `probability`, `seed`), and
            the fault's own fields (`factor`, `bit`, `lanes`, `peer`).

    Raises:
        UsageError: no such fault, field or board; the message names it.
    """
    fault = make_fault(kind, device, **settings)
    machine().inject(fault)
    return fault


def clear(device: int | None = None) -> None:
    """Take back all faults of a board, sticky ones too; of all boards when None."""
    machine().clear_faults(device)


def advance(seconds: float) -> None:
    """Let time pass while the host does nothing; under a real clock it sleeps.

    Raises:
        UsageError: seconds is no number from 0 up.
    """
    if not isinstance(seconds, (int, float)) or not 0 <= seconds < math.inf:
        raise UsageError(
            f"seconds must be 0 or more, not {seconds!r}", operation="advance", hint="seconds=0.5"
        )
    machine().clock.advance(seconds)


def _check_kinds(name: object, faults: object, watchdog: object) -> None:
    if not isinstance(name, str):
        raise UsageError(
            f"name must be a device type, not {name!r}", operation="install", hint='name="mock"'
        )
    if not isinstance(watchdog, (int, float)) or isinstance(watchdog, bool):
        raise UsageError(
            f"watchdog must be a number of seconds, not {watchdog!r}",
            operation="install",
            hint=f"watchdog={DEFAULT_WATCHDOG:g}",
        )
    if isinstance(faults, str):
        return
    if not isinstance(faults, (list, tuple)) or not all(isinstance(one, Fault) for one in faults):
        raise UsageError(
            f"faults must be text or a list of Fault, not {faults!r}",
            operation="install",
            hint='faults="lost@1:after=10;slow@0:factor=3"',
        )


def _profiles(
    count: int | None, profile: ProfileSource | Sequence[ProfileSource]
) -> tuple[BoardProfile, ...]:
    if count is not None and (not isinstance(count, int) or isinstance(count, bool)):
        raise UsageError(
            f"count must be a whole number, not {count!r}", operation="install", hint="count=2"
        )
    if isinstance(profile, (str, Path, Mapping, BoardProfile)):
        return (load_profile(profile),) * (DEFAULT_COUNT if count is None else count)
    if not isinstance(profile, Iterable):
        raise UsageError(
            f"profile must be a name, a mapping, a file or a list of those, not {profile!r}",
            operation="install",
            hint=f'profile="{DEFAULT_PROFILE}"',
        )
    profiles = tuple(load_profile(one) for one in profile)
    if not profiles:
        raise UsageError(
            "profile is an empty list",
            operation="install",
            hint="give one profile for each board, or leave it out",
        )
    if count not in (None, len(profiles)):
        raise UsageError(
            f"count is {count}, but {len(profiles)} profiles are given",
            operation="install",
            hint="leave count out: it is the number of profiles",
        )
    return profiles


def _choice(mode: Mode | None, name: str) -> ModeChoice:
    if mode not in (None, "python", "plain"):
        raise UsageError(
            f'mode must be "python" or "plain", not {mode!r}',
            operation="install",
            hint="leave it out to take what fits",
        )
    if mode is None:
        choice = choose_mode(Host(), name)
    else:
        choice = ModeChoice(mode, "asked for")
        owner = privateuse1_owner()
        if mode == "python" and owner not in (None, name):
            raise UsageError(
                f"python mode cannot be had: {owner} holds torch's one place for out-of-tree "
                "devices in this process",
                operation="install",
                hint='use mode="plain", or another process',
            )
    return choice


def _put_in_place(name: str, config: MachineConfig, choice: ModeChoice) -> Installation:
    global _current, _taken_away
    machine = _machines.get(name)
    if machine is None:
        machine = _machines[name] = Machine(name, config)
    else:
        machine.configure(config)
    if choice.mode == "python":
        _python_mode().install(machine, name)
    else:
        _hide_from_torch()
    _current = Installation(machine, choice)
    _taken_away = False
    return _current


def _hide_from_torch() -> None:
    if _current is not None and _current.choice.mode == "python":
        _python_mode().uninstall()


def _python_mode() -> Any:
    """The package that shows boards to torch: install(machine, name) -> module, uninstall()."""
    return importlib.import_module("accelhal_mock.python_mode")
