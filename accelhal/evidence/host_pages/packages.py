"""`pip list`, `pip freeze` and torch's collect_env: what is installed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from accelhal.evidence.host_pages.page import HostPage, Shown, of_record, run_of

_LIST_HEAD = re.compile(r"^Package\s+Version(?:\s.*)?$")
_LIST = re.compile(r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s+(?P<version>[0-9]\S*)(?:\s.*)?$")
_FREEZE = re.compile(r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[0-9]\S*)\s*$")

_ENV_HEAD = re.compile(r"^PyTorch version: (?P<version>\S+)\s*$")
_ENV_LINE = re.compile(r"^(?:\[[^\]]+\]|[A-Za-z][^:=]{1,60}:)(?: .*)?$")
_BUILT = re.compile(r"^(?P<name>[A-Z]{2,8}) used to build PyTorch: (?:(?P<version>[0-9]\S*)|\w)")
"""For a toolkit that it was not built with it says N/A or None."""

_PIP = re.compile(r"^\[(?:pip3?|conda)\] (?P<name>[A-Za-z0-9._-]+)(?:==|\s+)(?P<version>[0-9]\S*)")


def _list(lines: Sequence[str]) -> Shown | None:
    if len(lines) < 2 or not re.fullmatch(r"-+(?: -+)+\s*", lines[1]):
        return None
    found = run_of(lines[2:], _LIST)
    return of_record(len(found) + 2, packages=_named(found))


def _freeze(lines: Sequence[str]) -> Shown:
    found = run_of(lines, _FREEZE)
    return of_record(len(found), packages=_named(found))


def _collect_env(lines: Sequence[str]) -> Shown:
    each = (lines[place] for place in range(len(lines)))
    own = list(takewhile(lambda line: _ENV_LINE.match(line) or not line.strip(), each))
    head = _ENV_HEAD.match(own[0])
    packages = {"torch": head["version"]} if head else {}
    packages |= _named([found for line in own if (found := _PIP.match(line))])
    built = [found for line in own if (found := _BUILT.match(line))]
    builds = {found["name"].lower(): found["version"] for found in built if found["version"]}
    return of_record(len(own), packages=packages, torch_builds=builds if built else None)


def _named(found: Sequence[re.Match[str]]) -> dict[str, str]:
    return {line["name"].lower().replace("_", "-"): line["version"] for line in found}


LIST = HostPage("pip list", lambda line: _LIST_HEAD.match(line) is not None, _list)
FREEZE = HostPage("pip freeze", lambda line: _FREEZE.match(line) is not None, _freeze)
COLLECT_ENV = HostPage(
    "python -m torch.utils.collect_env",
    lambda line: _ENV_HEAD.match(line) is not None,
    _collect_env,
)
