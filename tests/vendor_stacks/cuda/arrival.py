"""Import hooks: the binding is there before torch.cuda is, and the plugin's probe sees a host."""

from __future__ import annotations

import dataclasses
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from vendor_stacks.cuda.settings import settings


class _Hook(MetaPathFinder):
    """Calls `before` and `after` around the import of one module."""

    def __init__(
        self,
        name: str,
        before: Callable[[], None] = lambda: None,
        after: Callable[[ModuleType], None] = lambda module: None,
    ) -> None:
        self.name = name
        self.before = before
        self.after = after

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        assert spec is not None, f"{fullname} is not on its package's path"
        loader = spec.loader
        assert loader is not None, f"{fullname} is a folder"
        spec.loader = _Around(loader, self)
        return spec


class _Around(Loader):
    def __init__(self, loader: Loader, hook: _Hook) -> None:
        self._loader = loader
        self._hook = hook

    def __getattr__(self, name: str) -> Any:  # get_source and the like, for tracebacks
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._hook.before()
        self._loader.exec_module(module)
        self._hook.after(module)


def prepare() -> None:
    """Set the hooks; nothing is imported yet."""
    sys.meta_path.insert(0, _Hook("torch.cuda", before=_install_binding, after=_adjust))
    sys.meta_path.insert(0, _Hook("accelhal_cuda.spec", after=_show_host))


def _install_binding() -> None:
    from vendor_stacks.cuda import binding

    binding.install(sys.modules["torch._C"])
    version: Any = sys.modules["torch.version"]
    version.cuda = binding.CUDA_VERSION


def _adjust(module: ModuleType) -> None:
    """Change what torch would do to tensors that really lie on a board."""
    from torch import __future__ as switches

    # On CUDA a module's parameters are given other data; these tensors must be swapped in.
    switches.set_swap_module_params_on_conversion(True)
    # It captures backward passes, which do not run here: left out, as in a release without it.
    del module.make_graphed_callables


def _show_host(module: ModuleType) -> None:
    """Let the plugin's own probe read the simulated host, and the suite know what cannot run."""
    from accelhal.host import Host

    root = Path(settings().host or "/nowhere")
    packages = root / "site-packages"
    spec = module.SPEC

    def probe(host: Host) -> Any:
        if host.root != Path("/"):
            return spec.probe(host)
        return spec.probe(Host(root, host.environ, lambda name: packages / name))

    # NVML is simulated apart: a test that wants it says which boards it has.
    extensions = {**spec.extensions, "conformance": "vendor_stacks.cuda.suite:StandIn"}
    module.SPEC = dataclasses.replace(
        spec,
        probe=probe,
        open_management=spec.open_management if settings().nvml else None,
        extensions=extensions,
    )
