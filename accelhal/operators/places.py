"""Where in the model an operator was called: the line of code, and the module."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch
from torch.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)

_TORCH = str(Path(torch.__file__).parent)
_OPERATORS = str(Path(__file__).parent)
_LIBRARY_FOLDERS = tuple(str(Path(sysconfig.get_path(kind))) for kind in ("purelib", "platlib"))


@dataclass(frozen=True)
class Place:
    """Where an operator was called.

    Attributes:
        source: "file.py:12", the innermost line outside of torch; None where there is none.
        module: "layers.0 (Linear)", the innermost module that was running; None outside of all.
    """

    source: str | None
    module: str | None


class ModuleStack:
    """The modules whose forward is running, by their names in the model."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._names = {module: name for name, module in model.named_modules()}
        self._running: list[str] = []

    @property
    def current(self) -> str | None:
        """The innermost one."""
        return self._running[-1] if self._running else None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Follow the model's modules inside."""
        entering = register_module_forward_pre_hook(self._enter)
        leaving = register_module_forward_hook(self._leave, always_call=True)
        try:
            yield
        finally:
            entering.remove()
            leaving.remove()
            self._running.clear()

    def _enter(self, module: torch.nn.Module, args: Any) -> None:
        name = self._names.get(module)
        kind = type(module).__name__
        self._running.append(f"{name} ({kind})" if name else kind)

    def _leave(self, module: torch.nn.Module, args: Any, result: Any) -> None:
        if self._running:
            self._running.pop()


def source_line(outermost: CodeType) -> str | None:
    """The innermost line outside of torch and of this package.

    Args:
        outermost: the code object of the function that called the model; the search ends there.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not outermost:
        file = frame.f_code.co_filename
        if not file.startswith((_TORCH, _OPERATORS, "<")):
            return f"{_short(file)}:{frame.f_lineno}"
        frame = frame.f_back
    return None


def _short(file: str) -> str:
    """A path from the current folder or the folder of installed packages, where it lies there."""
    path = Path(file)
    for folder in (*_LIBRARY_FOLDERS, str(Path.cwd())):
        if path.is_relative_to(folder):
            return str(path.relative_to(folder))
    return file
