"""The tensor that lies on a simulated board: torch sees its device; the host holds the values."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from accelhal_mock.python_mode.operators import OPERATORS
from accelhal_mock.python_mode.storage import BoardStorage, board_storage

if TYPE_CHECKING:
    from accelhal_mock.simulation import Allocation, Board

_make = torch.Tensor._make_wrapper_subclass
_OWN = frozenset({"_board", "_host", "_key", "_memory"})

board_devices: list[torch.device] = []
"""torch.device by board index; filled when the device type gets its name."""


class BoardTensor(torch.Tensor):
    """A tensor on a board. Made by `wrap` alone.

    Attributes:
        _host: the values, in an ordinary CPU tensor of the same shape and strides.
        _board: where it lies.
        _memory: what it holds there, together with its views.
        _key: identity of the storage under `_host`, by which shared memory is recognised.
    """

    _board: Board
    _host: torch.Tensor
    _key: int
    _memory: Allocation

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Carry out an operator on boards."""
        operator = OPERATORS[func]
        return operator.run(operator, args, kwargs or {})

    # ---- values that go to the host

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        shown = repr(self.detach().cpu())[:-1] + f", device='{self.device}'"
        if self.grad_fn is not None:
            shown += f", grad_fn=<{type(self.grad_fn).__name__}>"
        elif self.requires_grad:
            shown += ", requires_grad=True"
        prefix = "Parameter containing:\n" if isinstance(self, torch.nn.Parameter) else ""
        return f"{prefix}{shown})"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        if self.dim() == 0:
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def tolist(self) -> Any:
        """The values as nested lists; the host waits for them."""
        return self.detach().cpu().tolist()

    def numpy(self, *, force: bool = False) -> Any:
        """Refused as on every board, unless `force` asks for a copy to the host."""
        if force:
            return self.detach().cpu().numpy(force=True)
        raise self._no_numpy()

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise self._no_numpy()

    def _no_numpy(self) -> TypeError:
        return TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy "
            "the tensor to host memory first."
        )

    # ---- memory

    def untyped_storage(self) -> BoardStorage:
        """The storage: on the board, for all that can be asked of it."""
        return board_storage(self._host, self._memory, self.device)

    def data_ptr(self) -> int:
        """Address of the values in the host's memory."""
        return self._host.data_ptr()

    def is_shared(self) -> bool:
        """True, as torch says of all tensors on boards."""
        return True

    def share_memory_(self) -> BoardTensor:
        """Return it, as torch does for tensors on boards."""
        return self

    @property
    def data(self) -> torch.Tensor:
        """The tensor without its history; assigning puts other memory under this tensor."""
        return wrap_view(self._host, self)  # with a version counter of its own

    @data.setter
    def data(self, other: torch.Tensor) -> None:
        if not isinstance(other, BoardTensor):
            raise RuntimeError(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
                "incompatible tensor type. "
            )
        torch.Tensor.data.__set__(self, other)  # type: ignore[attr-defined]
        rebase(self, other._host, other._board, other._memory)

    # ---- copies

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """In the form of ordinary checkpoints; the storage carries the board's name."""
        if isinstance(self, torch.nn.Parameter):
            state = self._other_attributes()
            values: tuple[Any, ...] = (self.data, self.requires_grad, OrderedDict())
            if state:
                return torch._utils._rebuild_parameter_with_state, (*values, state)
            return torch._utils._rebuild_parameter, values
        if self.is_conj() or self.is_neg():  # a storage holds no such mark
            resolved = self.detach().resolve_conj().resolve_neg()
            return resolved.requires_grad_(self.requires_grad).__reduce_ex__(protocol)
        torch.utils.hooks.warn_if_has_hooks(self)
        self._board.current_stream().synchronize()  # the values are about to be read
        storage = torch.storage.TypedStorage(
            wrap_storage=self.untyped_storage(), dtype=self.dtype, _internal=True
        )
        return torch._utils._rebuild_tensor_v2, (
            storage,
            self.storage_offset(),
            tuple(self.size()),
            self.stride(),
            self.requires_grad,
            OrderedDict(),
        )

    def __deepcopy__(self, memo: dict[Any, Any]) -> BoardTensor:
        if id(self) in memo:
            found: BoardTensor = memo[id(self)]
            return found
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment.  If you were attempting to deepcopy a module, this may "
                "be because of a torch.nn.utils.weight_norm usage, see "
                "https://github.com/pytorch/pytorch/pull/103001"
            )
        with torch.no_grad():
            copied: Any = self._copy_with_storage(memo)
        if isinstance(self, torch.nn.Parameter):
            copied = torch.nn.Parameter(copied, self.requires_grad)
        else:
            copied.requires_grad_(self.requires_grad)
        memo[id(self)] = copied
        if self.grad is not None:
            copied.grad = copy.deepcopy(self.grad, memo)
        for name, value in self._other_attributes().items():
            setattr(copied, name, copy.deepcopy(value, memo))
        result: BoardTensor = copied
        return result

    def _copy_with_storage(self, memo: dict[Any, Any]) -> torch.Tensor:
        """A copy that shares memory with the copies of whatever this tensor shares it with."""
        if self.is_conj() or self.is_neg():
            return self.clone()
        copies = memo.setdefault("torch", {})
        whole: torch.Tensor | None = copies.get((self._key, self.dtype))
        if whole is None:
            host = torch.empty(0, dtype=self.dtype).set_(self._host.untyped_storage())
            whole = wrap_view(host, self).clone()
            copies[self._key, self.dtype] = whole
        return whole.as_strided(self.size(), self.stride(), self.storage_offset())

    def __coerce_same_metadata_as_tangent__(
        self, expected_metadata: object, expected_type: type | None = None
    ) -> BoardTensor:
        """Return it: what torch.compile traced as a plain tensor of the device is this one."""
        return self

    def _other_attributes(self) -> dict[str, Any]:
        """What others, torch's modules among them, have hung on this tensor."""
        return {
            name: value
            for name, value in self.__dict__.items()
            if name not in _OWN and name != "_is_param"
        }


def wrap(host: torch.Tensor, board: Board, memory: Allocation, key: int) -> BoardTensor:
    """Show a CPU tensor as one on a board.

    Args:
        host: the values.
        board: where they lie, as torch shall see it.
        memory: what their storage holds there.
        key: identity of their storage: `storage_key(host)`.
    """
    # Positional arguments save a third of a microsecond, on a call that every operator makes.
    tensor: BoardTensor = _make(
        BoardTensor,
        host.size(),
        host.stride(),
        host.storage_offset(),
        None,
        host.dtype,
        torch.strided,
        board_devices[board.index],
    )
    tensor._host = host
    tensor._board = board
    tensor._memory = memory
    tensor._key = key
    return tensor


def wrap_view(host: torch.Tensor, base: BoardTensor) -> BoardTensor:
    """Show a CPU tensor that shares the memory of `base`'s host values."""
    if torch.is_inference_mode_enabled() and not base.is_inference():
        # A view of an ordinary tensor is ordinary too: it shares the base's version counter.
        with torch.inference_mode(False):
            return wrap_view(host, base)
    tensor = wrap(host, base._board, base._memory, base._key)
    # Lazily conjugated or negated values: torch asks the wrapper for these bits.
    if host.is_conj():
        torch._C._set_conj(tensor, True)
    if host.is_neg():
        torch._C._set_neg(tensor, True)
    return tensor


def storage_key(host: torch.Tensor) -> int:
    """Identity of a CPU tensor's storage, as long as the tensor lives."""
    key: int = host.untyped_storage()._cdata
    return key


def rebase(tensor: BoardTensor, host: torch.Tensor, board: Board, memory: Allocation) -> None:
    """Put other values and memory under a tensor whose shape matches them."""
    tensor._host = host
    tensor._board = board
    tensor._memory = memory
    tensor._key = storage_key(host)
