"""A model's copies, one on each device, that hold what the model holds."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import chain
from typing import Any

import torch
from torch import nn
from torch.func import functional_call

from accelhal.facade import Device

_Seen = tuple[torch.Tensor, int, int]


class Replica:
    """A model on one device: the model itself where it lies there, else a copy that follows it.

    Args:
        model: what is copied.
        device: where to.
    """

    def __init__(self, model: nn.Module, device: Device) -> None:
        self.device = device
        self._model = model
        self.renew()

    def renew(self) -> None:
        """Copy the whole model."""
        self._modules = list(self._model.modules())
        if self._is_here():
            self._module = self._model
        else:
            with torch.inference_mode(False):  # inference tensors could not follow later
                self._module = copy.deepcopy(self._model).to(self.device.torch_device)
        self._held = [_seen(tensor) for tensor in _tensors(self._model)]

    def follow(self) -> None:
        """Take over the model's modes, what was changed in place of its tensors, and new modules.

        Parameters are left out where gradients are recorded: each call then copies them.
        """
        if not self._is_alike():
            self.renew()
        if self._module is self._model:
            return
        for theirs, mine in zip(self._modules, self._module.modules(), strict=True):
            mine.training = theirs.training
        recording = torch.is_grad_enabled()
        pairs = zip(_tensors(self._model), _tensors(self._module), strict=True)
        for place, (source, target) in enumerate(pairs):
            if recording and isinstance(source, nn.Parameter):
                continue
            if not _is_unchanged(source, self._held[place]):
                with torch.no_grad():
                    target.copy_(source)
                self._held[place] = _seen(source)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the model here; gradients, where they are recorded, are the model's own.

        They reach it through the copies of its parameters, which autograd adds up.
        """
        if self._module is self._model or not torch.is_grad_enabled():
            return self._module(*args, **kwargs)
        target = self.device.torch_device
        moved = {name: one.to(target) for name, one in self._model.named_parameters()}
        return functional_call(self._module, moved, args, kwargs)

    def _is_here(self) -> bool:
        return {tensor.device for tensor in _tensors(self._model)} <= {self.device.torch_device}

    def _is_alike(self) -> bool:
        """Whether the model still has the modules, the shapes and the place that were copied."""
        modules = list(self._model.modules())
        if len(modules) != len(self._modules) or any(
            one is not other for one, other in zip(modules, self._modules, strict=True)
        ):
            return False
        if self._is_here() or self._module is self._model:
            return self._is_here() and self._module is self._model
        theirs, mine = list(_tensors(self._model)), list(_tensors(self._module))
        return len(theirs) == len(mine) and all(
            one.shape == other.shape and one.dtype == other.dtype
            for one, other in zip(theirs, mine, strict=True)
        )


def _tensors(model: nn.Module) -> Iterator[torch.Tensor]:
    return chain(model.parameters(), model.buffers())


def _seen(tensor: torch.Tensor) -> _Seen:
    """The tensor, how often it was written to, and where it lies.

    Inference tensors do not count what is written to them.
    """
    return tensor, -1 if tensor.is_inference() else tensor._version, tensor.data_ptr()


def _is_unchanged(tensor: torch.Tensor, seen: _Seen) -> bool:
    return tensor is seen[0] and _seen(tensor)[1:] == seen[1:]
