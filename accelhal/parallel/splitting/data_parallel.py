"""LocalDataParallel: one process, several devices, each batch divided among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy
from torch.utils._pytree import tree_leaves

from accelhal.errors import ErrorKind, UsageError
from accelhal.facade import Device, device as device_named
from accelhal.parallel.splitting.in_order import OrderedStream
from accelhal.parallel.splitting.launches import Launcher
from accelhal.parallel.splitting.parts import Part
from accelhal.parallel.splitting.pieces import Pieces
from accelhal.parallel.splitting.replicas import Replica
from accelhal.parallel.splitting.rows import cut, join, row_count
from accelhal.parallel.splitting.splitter import BatchSplitter, Policy, members_of
from accelhal.parallel.splitting.under_way import UnderWay
from accelhal.parallel.waiting import check_limit

TIMEOUT_S = 300.0
"""Limit for one part: above what a training step of a large model takes."""


class LocalDataParallel:
    """Runs a model on several devices of this process; outputs are those of one device.

    Each device works on a stream of its own. Gradients are the model's: losses of the joined output
    need no scale. A device that is lost is taken out, and its rows are done by the others, where
    that changes nothing: in evaluation mode, without gradients. Devices may be of several backends.

    Args:
        model: where it lies, it stays. Its parameters are followed: changed in place, they are
            copied to the other devices before the next batch.
        devices: where it runs; a BatchSplitter over Devices sets the policy too.
        policy: as `BatchSplitter` takes it.
        output_device: where outputs go; where the batch lies when None.
        timeout: seconds that one part of a batch may take.

    Attributes:
        module: the model.
        splitter: what divides.
        lost: devices that were taken out, and why.

    Raises:
        UsageError: an argument is wrong; the message names it.
    """

    def __init__(
        self,
        model: nn.Module,
        devices: BatchSplitter | Sequence[Device | torch.device | str],
        policy: Policy = "auto",
        *,
        output_device: Device | torch.device | str | None = None,
        timeout: float = TIMEOUT_S,
    ) -> None:
        if not isinstance(devices, BatchSplitter):
            devices = BatchSplitter([device_named(one) for one in members_of(devices)], policy)
        check_limit(timeout, "LocalDataParallel", TIMEOUT_S)
        _check_model(model)
        for one in devices.devices:
            if not isinstance(one, Device):
                raise UsageError(
                    f"{one!r} is not a device that a model runs on",
                    operation="LocalDataParallel",
                    hint="divide among accelhal.devices()",
                )
        self.module = model
        self.splitter = devices
        self.lost: dict[Device, ErrorKind] = {}
        self._output = None if output_device is None else device_named(output_device).torch_device
        self._timeout = timeout
        self._launchers = {one: Launcher(one) for one in devices.devices}
        self._replicas = {one: Replica(model, one) for one in devices.devices}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The model's output for a batch; the first dimension of every tensor is its rows.

        Raises:
            UsageError: the batch cannot be divided, or the output not joined.
            AccelhalError: a device failed; the error names it, and the rows.
        """
        batch = (args, kwargs)
        rows = row_count(batch)
        target = self._target(batch)
        self._follow()
        redo = not torch.is_grad_enabled() and not self.module.training
        under_way = self._under_way(redo)
        ended: list[tuple[Part, Any]] = []
        pieces = self.splitter.pieces(rows)
        try:
            while pieces.left or under_way or not ended:
                if rows == 0 and not under_way:  # the model says what no rows give
                    none = Part(self.splitter.devices[0], 0, 0)
                    if not self._begin(under_way, none, batch, target):
                        _redo(pieces, none)
                for one in under_way.free():
                    part = pieces.take(one)
                    if part is not None and not self._begin(under_way, part, batch, target):
                        _redo(pieces, part)
                if under_way:
                    worked, output, done = under_way.next_ended()
                    if done:
                        ended.append((worked, output))
                    else:
                        _redo(pieces, worked)
        finally:
            under_way.settle()
        ended.sort(key=lambda one: one[0].start)
        return join([output for _, output in ended], [part.rows for part, _ in ended])

    def map(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Outputs of whole batches, in order; each device takes the next when it is free.

        Without a barrier between batches no device waits for another, and no profile is needed.
        No gradients are recorded. As many batches are read ahead as devices work.

        Args:
            batches: the model's only argument each, or a tuple of its arguments.
        """
        with torch.no_grad():
            self._follow()
        return iter(
            OrderedStream(
                batches,
                self._under_way(redo=not self.module.training),
                self._replicas.__getitem__,
                self._target,
                len(self.splitter.devices),
            )
        )

    def refresh(self) -> None:
        """Copy the whole model to the devices again, after a change that cannot be noticed.

        Those are writes through `.data` or to inference tensors, and attributes that are neither
        tensors nor modules, such as the rate of a dropout.
        """
        for one in self.splitter.devices:
            self._replicas[one].renew()

    def _follow(self) -> None:
        for one in self.splitter.devices:
            self._replicas[one].follow()

    def _begin(self, under_way: UnderWay, part: Part, batch: Any, target: torch.device) -> bool:
        rows = cut(batch, part.start, part.stop)
        return under_way.begin(part, self._replicas[part.device], rows, target)

    def _under_way(self, redo: bool) -> UnderWay:
        return UnderWay(self._launchers, self.splitter, self.lost, redo=redo, timeout=self._timeout)

    def _target(self, batch: Any) -> torch.device:
        if self._output is not None:
            return self._output
        return next(
            leaf.device
            for leaf in tree_leaves(batch)
            if isinstance(leaf, torch.Tensor) and leaf.dim()
        )


def _check_model(model: nn.Module) -> None:
    def refused(message: str, hint: str) -> UsageError:
        return UsageError(message, operation="LocalDataParallel", hint=hint)

    if not isinstance(model, nn.Module):
        raise refused(
            f"{model!r} is not a model", "a torch.nn.Module, which has parameters to copy"
        )
    for name, tensor in model.named_parameters():
        if is_lazy(tensor) or tensor.is_meta:
            raise refused(
                f"{name} has no values yet that could be copied",
                "run a lazy model once; load the weights of one made on meta",
            )


def _redo(pieces: Pieces, part: Part) -> None:
    """Let other devices do the rows of a lost one."""
    pieces.drop(part.device)
    pieces.put_back(part)
