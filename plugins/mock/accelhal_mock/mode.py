"""Which way of showing the boards to torch fits this process, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from accelhal.host import Host
from accelhal.host.torch_install import autoload_enabled, autoload_entries, read_torch_install
from accelhal.runtimes.torch_loading import privateuse1_owner

Mode = Literal["python", "plain"]

OLDEST_TORCH_FOR_PYTHON = (2, 10)
"""The first torch with `_setup_privateuseone_for_python_backend`."""

_NODE_OF_CUDA = "/dev/nvidiactl"


@dataclass(frozen=True)
class ModeChoice:
    """A mode, and the reason for it.

    Attributes:
        mode: "python" (real torch devices) or "plain" (torch devices stay cpu).
        reason: one sentence.
    """

    mode: Mode
    reason: str


def choose_mode(host: Host, name: str = "mock") -> ModeChoice:
    """The mode for this process; torch is looked at, and not imported.

    Python mode needs torch 2.10, the one place for out-of-tree devices, and no other accelerator:
    torch holds one in a process.
    """
    torch = read_torch_install(host)
    if torch is None:
        return ModeChoice("plain", "torch is not installed")
    if torch.release < OLDEST_TORCH_FOR_PYTHON:
        wanted = ".".join(map(str, OLDEST_TORCH_FOR_PYTHON))
        return ModeChoice("plain", f"torch {torch.version} is older than {wanted}")
    owner = privateuse1_owner()
    if owner is not None and owner != name:
        return ModeChoice("plain", f"{owner} holds torch's one place for out-of-tree devices")
    if owner is None and autoload_enabled(host):
        for entry in autoload_entries():
            return ModeChoice("plain", f"{entry.distribution} adds its own device to torch")
    if "cuda" in torch.build and host.exists(_NODE_OF_CUDA):
        return ModeChoice("plain", "this torch is built for CUDA, and the host has CUDA boards")
    return ModeChoice("python", f"torch {torch.version} has room for an out-of-tree device")
