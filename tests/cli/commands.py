"""Real commands against fake distributions: folders on PYTHONPATH with metadata and modules."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import accelhal

PACKAGE_ROOT = Path(accelhal.__file__).parents[1]
COMMAND = (sys.executable, "-m", "accelhal")

TOY_SPEC = """
from accelhal.facts import Probe, ProbeStatus
from accelhal.host.visible_devices import IdentifierList, VisibleDevices
from accelhal.spi import BackendSpec

def probe(host):
    return Probe(ProbeStatus.NO_HARDWARE, 0, "no toy here", "pip install 'toys[all]'")

def open_runtime():
    raise OSError("libtoy.so: no such file")

SPEC = BackendSpec(
    name="toy", vendor="Toymaker", api_version=(1, 0), priority=5, probe=probe,
    open_runtime=open_runtime, torch_package="torch_toy", needs_privateuse1=True,
    visible_devices=(VisibleDevices("TOY_VISIBLE_DEVICES"),),
)
"""


@dataclass(frozen=True)
class Ended:
    """A command that ran to its end."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Standard output, which must be one JSON document."""
        return json.loads(self.out)

    def findings(self, check: str, device: str | None) -> list[dict[str, Any]]:
        found = self.document["findings"]
        return [f for f in found if f["id"] == check and f["device"] == device]

    def finding(self, check: str, device: str | None = None) -> dict[str, Any]:
        (found,) = self.findings(check, device)
        return found


class FakeSite:
    """Distributions that are found before everything that is installed."""

    def __init__(self, folder: Path, install: Callable[..., Path]) -> None:
        self._folder = folder
        self._install = install
        self.path = [str(folder)]
        folder.mkdir()

    def module(self, path: str, source: str) -> None:
        where = self._folder / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(source)

    def plugin(self, code: str = TOY_SPEC, distribution: str = "accelhal-toy") -> None:
        """A backend "toy" from a distribution of that name."""
        module = distribution.replace("-", "_")
        points = f"[accelhal.backends]\ntoy = {module}:SPEC\n"
        self._add(distribution, code, points, module)

    def vendor_package(self, code: str) -> None:
        """torch_toy, which torch is told to load inside its own import."""
        points = "[torch.backends]\ntoy = torch_toy:load\n"
        self._add("torch-toy", code, points, "torch_toy")

    def _add(self, distribution: str, code: str, entry_points: str, module: str) -> None:
        folder = self._install(distribution, code=code, entry_points=entry_points, module=module)
        self.path.append(str(folder))

    def torch(self) -> None:
        """A torch that imports at once, in the place of the installed one."""
        self.module("torch/__init__.py", "__version__ = '2.13.0'\n")
        self.module("torch/version.py", "__version__ = '2.13.0'\n")

    def without_torch(self) -> None:
        """Make every search for torch fail, as in an environment that lacks it."""
        self.module(
            "sitecustomize.py",
            "import sys\n"
            "class NoTorch:\n"
            "    def find_spec(self, name, path=None, target=None):\n"
            "        if name.partition('.')[0] == 'torch':\n"
            "            raise ModuleNotFoundError('no torch', name='torch')\n"
            "sys.meta_path.insert(0, NoTorch())\n",
        )

    def environment(self, **variables: str) -> dict[str, str]:
        """This process's environment without what steers accelhal, torch or colours."""
        dropped = ("ACCELHAL_", "TORCH_", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "TOY_", "PYTHON")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        path = os.pathsep.join([*self.path, str(PACKAGE_ROOT)])
        return {**kept, "PYTHONPATH": path, **variables}

    def run(self, *arguments: str, **variables: str) -> Ended:
        """Run `accelhal` in a process of its own; it must never show a traceback."""
        ended = subprocess.run(
            [*COMMAND, *arguments],
            capture_output=True,
            text=True,
            env=self.environment(**variables),
            timeout=120,
            check=False,
        )
        assert "Traceback" not in ended.stderr + ended.stdout
        return Ended(ended.returncode, ended.stdout, ended.stderr)
