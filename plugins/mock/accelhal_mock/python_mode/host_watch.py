"""Checks what the program does with a host tensor while a copy in it is under way.

Torch calls on the CPU do not come by the boards. So a host tensor changes its class while a copy
is under way: its uses are then seen, checked against their schema, and reported at once. When the
host has waited for the copy, the tensor is an ordinary one again.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from accelhal_mock.python_mode.host_memory import PinnedStorage, pinned_storage
from accelhal_mock.python_mode.installed import current_installation
from accelhal_mock.python_mode.operators import OPERATORS
from accelhal_mock.python_mode.tensor import BoardTensor
from accelhal_mock.simulation.host import Operation

_READS_PAST_DISPATCH = frozenset({"__array__", "__dlpack__", "__repr__", "numpy", "tolist"})

_IS_PINNED = torch.ops.aten.is_pinned.default

_lock = threading.Lock()


class _Source(NamedTuple):
    """The source of a copy under way.

    Attributes:
        tensor: the source.
        version: its version when the copy was queued.
        storage: its memory.
        copies: those that read the memory then.
    """

    tensor: weakref.ref[torch.Tensor]
    version: int
    storage: PinnedStorage
    copies: tuple[Operation, ...]

    def is_changed_too_early(self) -> bool:
        """Whether it was changed while its own copies read it, and not by a later user's right."""
        tensor = self.tensor()
        changed = tensor is not None and _version(tensor) != self.version
        return changed and any(copy in self.storage.buffer.readers for copy in self.copies)


_read_by_copies: list[_Source] = []


class WatchedTensor(torch.Tensor):
    """The class of a host tensor while a copy from or into it is under way."""

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run a torch call, checking each operator that it comes down to."""
        name = getattr(func, "__name__", str(func))
        with torch._C.DisableTorchFunctionSubclass():
            if name in _READS_PAST_DISPATCH:
                _check_read(args[0], f"Tensor.{name}")
            with _UseCheck():
                result = func(*args, **(kwargs or {}))
        _watch_views(result)
        return result


class _UseCheck(TorchDispatchMode):
    """Checks the host tensors that operators read and write."""

    def __torch_dispatch__(
        self,
        func: Any,
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        operator = OPERATORS[func]
        tensors = _tensors((*args, *kwargs.values()))
        metadata = operator.run is OPERATORS.view or operator.reads_shapes or func is _IS_PINNED
        if not metadata and not any(isinstance(tensor, BoardTensor) for tensor in tensors):
            written = operator.arguments_written(args, kwargs)
            for tensor in tensors:
                if any(tensor is one for one in written):
                    _check_write(tensor, operator.name)
                else:
                    _check_read(tensor, operator.name)
        return func(*args, **kwargs)


def watch(tensor: torch.Tensor, *, read_by_copy: bool) -> None:
    """Check uses of a pinned host tensor until the copy under way in it is done.

    Args:
        tensor: the source or target of an asynchronous copy.
        read_by_copy: whether it is the source, which must not change meanwhile.
    """
    storage = pinned_storage(tensor)
    assert storage is not None, "asynchronous copies use pinned memory"
    if read_by_copy:
        with _lock:
            copies = tuple(storage.buffer.readers)
            _read_by_copies.append(_Source(weakref.ref(tensor), _version(tensor), storage, copies))
    _turn(tensor, storage)
    if tensor._base is not None:
        _turn(tensor._base, storage)


def unwatch(storage: PinnedStorage) -> None:
    """Let the tensors over a storage be ordinary again, once no copy is under way in it."""
    if storage.buffer.readers or storage.buffer.writer is not None:
        return
    with _lock:
        watched, storage.watched = storage.watched, []
        _read_by_copies[:] = [one for one in _read_by_copies if one.storage is not storage]
    for reference in watched:
        tensor = reference()
        if tensor is not None:
            tensor.__class__ = torch.Tensor


def check_refills() -> None:
    """Report sources of copies that changed by a way that was not seen: through another view.

    Called before the host waits: later nothing would be under way.

    Raises:
        HazardError: where hazards raise.
    """
    if not _read_by_copies:
        return
    with _lock:
        sources = tuple(_read_by_copies)
    for source in sources:
        if source.is_changed_too_early():
            with _lock:
                _read_by_copies[:] = [one for one in _read_by_copies if one is not source]
            _hazards().host_writes(source.storage.buffer, "an operation through another view")


def _turn(tensor: torch.Tensor, storage: PinnedStorage) -> None:
    if type(tensor) is torch.Tensor:
        with _lock:
            storage.watched.append(weakref.ref(tensor))
        tensor.__class__ = WatchedTensor


def _watch_views(result: Any) -> None:
    for tensor in _tensors((result,)):
        if type(tensor) is torch.Tensor and tensor.layout is torch.strided and not tensor.is_meta:
            storage = pinned_storage(tensor)
            if storage is not None and storage.watched:
                _turn(tensor, storage)


def _check_read(tensor: torch.Tensor, name: str) -> None:
    storage = pinned_storage(tensor)
    if storage is not None:
        _hazards().host_reads(storage.buffer, name)


def _check_write(tensor: torch.Tensor, name: str) -> None:
    storage = pinned_storage(tensor)
    if storage is not None:
        _hazards().host_writes(storage.buffer, name)


def _version(tensor: torch.Tensor) -> int:
    """How often the tensor was written; 0 of an inference tensor, where torch does not count."""
    return 0 if tensor.is_inference() else tensor._version


def _hazards() -> Any:
    return current_installation().machine.hazards


def _tensors(values: Iterable[Any]) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found.extend(_tensors(value))
    return found
