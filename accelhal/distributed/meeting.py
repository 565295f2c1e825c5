"""Where ranks meet: the store of their launcher, and the introductions exchanged through it."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from accelhal.distributed.environment import MASTER_PORT, RankEnvironment
from accelhal.distributed.introductions import Introduction, rank_list
from accelhal.errors import DistributedError, message_of

if TYPE_CHECKING:
    from torch.distributed.distributed_c10d import Store

_FOLDER = "accelhal"
"""Prefix of the keys, away from those of torch."""

_HELD_BY_LAUNCHER = "TORCHELASTIC_USE_AGENT_STORE"
"""torchrun's word that the store at the address is its own."""

_FAREWELL_S = 5.0
"""How long rank 0 keeps its store for ranks that have not read yet; they need one exchange."""

_POLL_S = 0.01


def open_store(place: RankEnvironment, timeout: float) -> Store:
    """The store that the launcher's address names; rank 0 holds it where the launcher does not.

    Args:
        place: this process among the others.
        timeout: seconds to wait for the store.

    Raises:
        DistributedError: its port is taken, or nobody answers there in time.
    """
    from torch._C._distributed_c10d import TCPStore

    where = f"{place.address}:{place.port}"
    try:
        store: Store = TCPStore(
            place.address,
            place.port,
            is_master=place.rank == 0 and os.environ.get(_HELD_BY_LAUNCHER) != str(True),
            timeout=timedelta(seconds=timeout),
            wait_for_workers=False,  # it would not say which are missing
            multi_tenant=True,
        )
    except (RuntimeError, TimeoutError) as error:  # DistNetworkError is a RuntimeError
        text = message_of(error)
        if "EADDRINUSE" in text or os.strerror(errno.EADDRINUSE) in text:
            raise DistributedError(
                f"rank 0 cannot hold the ranks' store: port {place.port} is in use",
                operation="distributed.init",
                hint=f"another {MASTER_PORT}; `accelhal launch` finds a free one on one host",
            ) from error
        raise DistributedError(
            f"rank {place.rank} found no store at {where} in {timeout:g} s: {_first_line(text)}",
            operation="distributed.init",
            hint="rank 0 or its launcher did not start, or its host cannot be reached from here",
        ) from error
    return store


def meet(
    store: Store, me: Introduction, world_size: int, timeout: float
) -> tuple[Introduction, ...]:
    """Tell the others who this rank is, and wait for all of them.

    Args:
        store: where the ranks meet.
        me: this rank.
        world_size: how many ranks there are.
        timeout: seconds to wait for the last one.

    Returns:
        All ranks, in order.

    Raises:
        DistributedError: some did not come in time; the message names them.
    """
    keys = [f"{_FOLDER}/rank/{rank}" for rank in range(world_size)]
    try:
        store.set(keys[me.rank], me.to_json())
        _wait(store, keys, timeout)
        met = tuple(Introduction.from_json(text) for text in store.multi_get(keys))
        _part(store, me.rank, world_size)
    except RuntimeError as error:  # DistStoreError and DistNetworkError among them
        missing = _missing(store, keys)
        if missing:
            what = f"{rank_list(missing)} of {world_size} did not come within {timeout:g} s"
        else:
            what = f"the store of the ranks went away: {_first_line(message_of(error))}"
        raise DistributedError(
            f"rank {me.rank} waited for the others: {what}",
            operation="distributed.init",
            hint="look at the output of the ranks that are missing; the number of processes "
            "started must be the world size",
        ) from error
    return met


def _wait(store: Store, keys: Sequence[str], timeout: float) -> None:
    """Wait for the keys in turn: a store waits for many at once in no order it tells."""
    deadline = time.monotonic() + timeout
    for key in keys:
        left = max(deadline - time.monotonic(), _POLL_S)
        store.wait([key], timedelta(seconds=left))


def _part(store: Store, rank: int, world_size: int) -> None:
    """Let the holder of the store go last: what it finds may end it, and the store with it."""
    key = f"{_FOLDER}/read"
    store.add(key, 1)
    deadline = time.monotonic() + _FAREWELL_S
    while rank == 0 and store.add(key, 0) < world_size and time.monotonic() < deadline:
        time.sleep(_POLL_S)


def _missing(store: Store, keys: Sequence[str]) -> list[int]:
    with contextlib.suppress(RuntimeError):  # the store is gone: nobody can tell
        return [rank for rank, key in enumerate(keys) if not store.check([key])]
    return []


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "no reason given"
