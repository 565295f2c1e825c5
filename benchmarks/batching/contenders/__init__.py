"""One module for each batcher, each with the same few names, imported only in its own process.

Every module gives `SETTINGS`, its settings by name, and one or both of `open_async(work, setting)`,
awaited in the running loop for a function to await with one request, and `open_sync(work,
setting)`, for a function to call from any thread.
Nothing is closed: the process ends with the round.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

AsyncCall = Callable[["Tensor"], Awaitable["Tensor"]]
SyncCall = Callable[["Tensor"], "Tensor"]


@dataclass(frozen=True)
class Setting:
    """How a contender is set up.

    Attributes:
        options: What its own interface takes, by name.
        only: The one workload that it is meant for; none for all.
        on_loop: The model runs on the callers' event loop, which does nothing else meanwhile.
            Every contender leaves the loop free otherwise.
    """

    options: Mapping[str, Any]
    only: str | None = None
    on_loop: bool = False


OURS = "accelhal"
IDEAL = "ideal"
FLOOR = "floor"
# The packages that they come in.
PEERS = {
    "batched": "batched",
    "ray_serve": "ray",
    "async_batcher": "async-batcher",
    "bentoml": "bentoml",
    "litserve": "litserve",
    "batch_inference": "batch-inference",
}
