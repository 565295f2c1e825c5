"""Where batches run: the interface of a lane, and the lane that calls a model in its own thread."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from accelhal.batching.caller_state import CallerState
from accelhal.batching.collation import Arguments, Collator
from accelhal.batching.request import Batch
from accelhal.errors import AccelhalError, ErrorKind
from accelhal.tensor_nests import moved

if TYPE_CHECKING:
    import torch

    from accelhal.facade import Device


class Work(NamedTuple):
    """A batch for a lane to run.

    Attributes:
        batch: the requests.
        rows: rows that the model is to be given: the batch's, or more as padding.
        collator: makes the arguments.
        state: the callers' grad mode, inference mode and autocast; in force during `launch`.
    """

    batch: Batch
    rows: int
    collator: Collator
    state: CallerState

    def arguments(
        self,
        allocate: Callable[[tuple[int, ...], torch.dtype], torch.Tensor] | None = None,
    ) -> Arguments:
        """The model's arguments, collated into the buffers that `allocate` gives."""
        return self.collator.join(self.batch, self.rows, allocate)


class Launched(NamedTuple):
    """A batch under way.

    Attributes:
        arguments: what the model was called with.
        finish: waits for the output and returns it; called once.
    """

    arguments: Arguments
    finish: Callable[[], Any]


@runtime_checkable
class Lane(Protocol):
    """A device, a set of graphs, a worker: anything that runs one batch after another.

    All its methods are called in one thread, that of the lane, but for `kind_of`.

    Attributes:
        name: for messages and figures.
        depth: batches that may be under way at once; 1 where `launch` does all the work.
        batch_sizes: sizes that cost no padding, ascending; empty where all are alike.
    """

    name: str
    depth: int
    batch_sizes: tuple[int, ...]

    def start(self) -> None:
        """Get ready; called once, before all else."""

    def launch(self, work: Work) -> Launched:
        """Start a batch. What it raises, and what `finish` raises, fails the batch."""

    def kind_of(self, error: BaseException) -> ErrorKind:
        """What an error of the model or the device means; never raises."""

    def close(self) -> None:
        """Let go of everything; called once, after all else."""


class DirectLane:
    """Calls a model with the arguments as they are collated, and takes its output as it comes.

    Args:
        model: called with the collated arguments.
        name: for messages and figures.
    """

    depth = 1
    device_type = "cpu"

    def __init__(self, model: Callable[..., Any], name: str = "host") -> None:
        self.name = name
        self.batch_sizes = sizes_of(model)
        self._model = model
        torch = sys.modules.get("torch")
        self._threads: int | None = None if torch is None else torch.get_num_threads()

    def start(self) -> None:
        """See Lane; a new thread does not inherit torch's number of threads (pytorch#37259)."""
        if self._threads is not None:
            import torch

            torch.get_num_threads()  # the first use in a thread sets it, over what was asked for
            torch.set_num_threads(self._threads)

    def launch(self, work: Work) -> Launched:
        """See Lane."""
        arguments = work.arguments()
        output = self._model(*arguments.args, **arguments.kwargs)
        return Launched(arguments, lambda: output)

    def kind_of(self, error: BaseException) -> ErrorKind:
        """See Lane."""
        if "torch" not in sys.modules and not isinstance(error, AccelhalError):
            return ErrorKind.UNKNOWN  # nothing of torch's; the tables of messages need torch
        from accelhal.runtimes.error_messages import classify_message

        return classify_message(error)

    def close(self) -> None:
        """See Lane."""
        close = getattr(self._model, "close_in_lane", None)
        if close is not None:
            close()


class DeviceLane(DirectLane):
    """Calls a model on a device, one batch at a time: moves host tensors there and back.

    Args:
        model: on the device.
        device: where it lies.
    """

    def __init__(self, model: Callable[..., Any], device: Device) -> None:
        super().__init__(model, str(device))
        self.device_type = device.torch_device.type
        self._device = device

    def start(self) -> None:
        """See Lane."""
        super().start()
        self._device.__enter__()  # for the life of the thread

    def launch(self, work: Work) -> Launched:
        """See Lane."""
        return self.run_in_order(work.arguments())

    def run_in_order(self, arguments: Arguments) -> Launched:
        """Run a batch on the current stream, and wait for it."""
        target = self._device.torch_device
        output, from_host = called(self._model, arguments, target)

        def finish() -> Any:
            if from_host and target.type != "cpu":
                return moved(output, "cpu")
            self._device.synchronize()
            return output

        return Launched(arguments, finish)

    def kind_of(self, error: BaseException) -> ErrorKind:
        """See Lane."""
        return self._device.classify_error(error)

    def close(self) -> None:
        """See Lane."""
        super().close()
        self._device.__exit__(None, None, None)


def called(
    model: Callable[..., Any], arguments: Arguments, target: torch.device
) -> tuple[Any, bool]:
    """The model's output on a device, and whether its arguments lay on the host."""
    from torch.utils._pytree import tree_leaves

    leaves = tree_leaves((arguments.args, arguments.kwargs))
    from_host = any(getattr(leaf, "device", target).type == "cpu" for leaf in leaves)
    if not from_host or target.type == "cpu":
        return model(*arguments.args, **arguments.kwargs), from_host
    args, kwargs = moved((arguments.args, arguments.kwargs), target)
    return model(*args, **kwargs), True


def sizes_of(model: object) -> tuple[int, ...]:
    """The sizes that a model says cost it no padding (`GraphedModule.batch_sizes`)."""
    sizes = getattr(model, "batch_sizes", ())
    whole = isinstance(sizes, tuple) and all(type(size) is int and size > 0 for size in sizes)
    return tuple(sorted(sizes)) if whole else ()
