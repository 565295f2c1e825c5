"""`make_graphed_callables`: the vendor's own, on the device of the sample arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accelhal.errors import UsageError
from accelhal.facade import Device, device as open_device
from accelhal.graphs.placement import device_of

if TYPE_CHECKING:
    import torch


def make_graphed_callables(
    callables: Any,
    sample_args: Any,
    *,
    device: Device | str | torch.device | None = None,
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool: Any = None,
) -> Any:
    """Functions or modules whose forward and backward passes are graphs: for training.

    This is the vendor's own `make_graphed_callables`; torch's documentation of that name says what
    it asks of a module. Later arguments must have the shapes of the samples.

    Args:
        callables: a function or module, or a tuple of them in the order in which they run.
        sample_args: its arguments, a tuple of tensors; a tuple of those for several callables.
        device: the device; that of the first tensor in `sample_args` when None.
        num_warmup_iters: runs before the capture.
        allow_unused_input: let some arguments have no gradient.
        pool: memory shared with other graphs: `graph_pool_handle()` or another graph's pool.

    Returns:
        The graphed callable, or a tuple of them. A module is changed and returned.

    Raises:
        UnsupportedError: the device has no graphed callables.
        UsageError: the arguments are no tuple, no tensor among them says which device, or a bad
            number.
    """
    if not isinstance(sample_args, (tuple, list)):
        raise UsageError(
            f"sample_args is a {type(sample_args).__name__}, not a tuple of arguments",
            operation="make_graphed_callables",
            hint="(x,) for a callable of one argument",
        )
    target = open_device(device if device is not None else device_of(sample_args, "sample_args"))
    return target.make_graphed_callables(
        callables,
        sample_args,
        num_warmup_iters=num_warmup_iters,
        allow_unused_input=allow_unused_input,
        pool=pool,
    )
