"""What to type to install a build of torch for the boards."""

from __future__ import annotations

import re

from accelhal.facts.compatibility import PairVerdict

_INDEX = "--index-url https://download.pytorch.org/whl"

_DEFAULT = "cu126"
"""The build with code for most boards that are in use, sm_50 to sm_90 (pytorch/pytorch#145544)."""

_BLACKWELL = "cu130"

_WANTED = re.compile(r"(?:([0-9.]+)\+)?(cu[0-9]+)")


def install_torch(verdict: PairVerdict | None) -> tuple[str, ...]:
    """Commands for the builds that a look at the tables wants, else for the most common ones."""
    if verdict is None:
        return (
            f"pip install --force-reinstall torch {_INDEX}/{_DEFAULT}",
            f"pip install --force-reinstall torch {_INDEX}/{_BLACKWELL}  # Blackwell boards, "
            "driver 580 or newer",
        )
    builds = [found for one in verdict.wanted if (found := _WANTED.fullmatch(one))]
    version = verdict.found.get("torch", "").partition("+")[0]
    if builds:
        return tuple(
            f"pip install --force-reinstall {_requirement(found[1], version)} {_INDEX}/{found[2]}"
            for found in builds
        )
    return (f"pip install --force-reinstall torch {_INDEX}/{_DEFAULT}",)


def _requirement(release: str | None, version: str) -> str:
    if release:
        return f"'torch=={release}.*'"
    return f"torch=={version}" if version else "torch"
