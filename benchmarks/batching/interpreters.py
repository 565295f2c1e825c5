"""Which interpreter has which peer: peers that no one environment can hold run from several."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence

from benchmarks.batching.contenders import PEERS

_SECONDS = 30
_ASK = """
import importlib.metadata, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


class Interpreters:
    """Several interpreters, and the versions of the peers' packages that each has.

    Args:
        pythons: Their paths. The first also runs what needs no peer.
    """

    def __init__(self, pythons: Sequence[str]) -> None:
        self._first = pythons[0]
        self._packages = {python: self._look(python) for python in pythons}

    @staticmethod
    def _look(python: str) -> dict[str, str]:
        asked = [python, "-c", _ASK, *PEERS.values()]
        said = subprocess.run(asked, capture_output=True, check=True, text=True, timeout=_SECONDS)
        return json.loads(said.stdout)

    def having(self, package: str | None) -> str | None:
        """The first interpreter with the package; none where no one has it."""
        if package is None:
            return self._first
        return next((one for one, found in self._packages.items() if package in found), None)

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the peers, as they will run."""
        return {
            package: self._packages[python][package]
            for package in PEERS.values()
            if (python := self.having(package))
        }
