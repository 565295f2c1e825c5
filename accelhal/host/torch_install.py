"""The installed torch, read from its files: version, build, and who is loaded with it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from accelhal.host.entry_points import InstalledEntryPoint, read_entry_points
from accelhal.host.host import Host

MINIMUM_TORCH = "2.4"
"""The oldest torch whose device modules, events and autocast queries accelhal uses."""

AUTOLOAD_VARIABLE = "TORCH_DEVICE_BACKEND_AUTOLOAD"
"""torch >= 2.5 loads the entry points of group `torch.backends` unless this is not "1"."""

AUTOLOAD_GROUP = "torch.backends"

_TOOLKITS = ("cuda", "hip", "xpu")
"""Names in torch/version.py that hold a toolkit's version in a build for it, else None."""


@dataclass(frozen=True)
class TorchInstall:
    """An installed torch.

    Attributes:
        version: as in torch.__version__.
        build: the toolkits it was built with ("cuda" -> "13.0"); empty for a CPU build.
        path: its package folder.
    """

    version: str
    build: dict[str, str]
    path: Path

    @property
    def release(self) -> tuple[int, int]:
        """(major, minor); (0, 0) for a version that names none."""
        return minor_release(self.version)

    @property
    def public_version(self) -> str:
        """The version without its local part ("2.13.0" of "2.13.0+cpu")."""
        return self.version.partition("+")[0]


def read_torch_install(host: Host) -> TorchInstall | None:
    """The torch that `import torch` would take, without importing it; None when there is none."""
    path = host.find_package("torch")
    if path is None:
        return None
    values = _assigned_strings(path / "version.py")
    version = values.pop("__version__", None)
    if version is None:
        return None
    build = {name: values[name] for name in _TOOLKITS if name in values}
    return TorchInstall(version, build, path)


def too_old(version: str) -> str | None:
    """Why accelhal refuses a torch of that version, or None where it does not."""
    if minor_release(version) >= minor_release(MINIMUM_TORCH):
        return None
    return f"torch {version} is too old: accelhal needs {MINIMUM_TORCH} or newer"


def read_package_version(path: Path) -> str | None:
    """`__version__` in the version.py of a package folder, read without importing it."""
    return _assigned_strings(path / "version.py").get("__version__")


def autoload_enabled(host: Host) -> bool:
    """Whether `import torch` would load the packages of group `torch.backends`."""
    return host.environ.get(AUTOLOAD_VARIABLE, "1") == "1"


def autoload_entries() -> tuple[InstalledEntryPoint, ...]:
    """The entry points registered to be loaded inside `import torch`."""
    return read_entry_points(AUTOLOAD_GROUP).found


def minor_release(version: str) -> tuple[int, int]:
    """(2, 13) of "2.13.0.post2" and "2.13.0+cpu"; (0, 0) for a version that names none."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)


def _assigned_strings(path: Path) -> dict[str, str]:
    """Names that a module assigns string constants to, read from its syntax tree."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return {}
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets: list[ast.expr] = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        else:
            continue
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            found.update({t.id: node.value.value for t in targets if isinstance(t, ast.Name)})
    return found
