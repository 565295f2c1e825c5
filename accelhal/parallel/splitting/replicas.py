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


class Replica:
    """A model on one device: the model itself where it lies there, else a copy that follows it.

    Args:
        model: what is copied.
        device: where to.
    """

    def __init__(self, model: nn.Module, device: Device) -> None:
        self.device = device
        self._model = model
        here = {tensor.device for tensor in _tensors(model)} <= {device.torch_device}
        self._module = model if here else copy.deepcopy(model).to(device.torch_device)
        self._held = [_version(tensor) for tensor in _tensors(model)]

    def follow(self) -> None:
        """Take over the model's modes, and what was changed in place of its tensors.

        Parameters are left out where gradients are recorded: each call then copies them.
        """
        if self._module is self._model:
            return
        for theirs, mine in zip(self._model.modules(), self._module.modules(), strict=True):
            mine.training = theirs.training
        recording = torch.is_grad_enabled()
        pairs = zip(_tensors(self._model), _tensors(self._module), strict=True)
        for place, (source, target) in enumerate(pairs):
            if recording and isinstance(source, nn.Parameter):
                continue
            version = _version(source)
            if version != self._held[place]:
                with torch.no_grad():
                    target.copy_(source)
                self._held[place] = version

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the model here; gradients, where they are recorded, are the model's own.

        They reach it through the copies of its parameters, which autograd adds up.
        """
        if self._module is self._model or not torch.is_grad_enabled():
            return self._module(*args, **kwargs)
        target = self.device.torch_device
        moved = {name: one.to(target) for name, one in self._model.named_parameters()}
        return functional_call(self._module, moved, args, kwargs)


def _tensors(model: nn.Module) -> Iterator[torch.Tensor]:
    return chain(model.parameters(), model.buffers())


def _version(tensor: torch.Tensor) -> tuple[int, int]:
    """Which tensor it is, and how often it was written to; inference tensors do not tell."""
    return id(tensor), -1 if tensor.is_inference() else tensor._version
