"""`@accelhal.batch`: a function of a list becomes one of an item, batched among its callers."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import Callable, Iterable
from typing import Any, overload

from accelhal.batching.batcher import CLOSE_LIMIT_S, DynamicBatcher
from accelhal.batching.replies import FutureReply
from accelhal.batching.statistics import BatcherStatistics
from accelhal.errors import UsageError

ListFunction = Callable[..., Any]


@overload
def batch(function: ListFunction, /) -> BatchedFunction: ...
@overload
def batch(
    function: None = None, /, **options: Any
) -> Callable[[ListFunction], BatchedFunction]: ...
def batch(function: ListFunction | None = None, /, **options: Any) -> Any:
    """Batch the calls of a function or method that takes a list and returns one as long.

        @accelhal.batch(max_batch_size=32)
        def embed(texts: list[str]) -> list[Vector]: ...

        embed("one text")                  # waits; `await embed(...)` where it is `async def`
        embed.submit("one text")           # a future
        embed.map(texts)

    A method is batched for each instance by itself. An `async def` runs in an event loop of the
    lane's thread: objects bound to another loop cannot be used in it.

    Args:
        function: of a list.
        options: as for DynamicBatcher; collate is "list".

    Raises:
        UsageError: not a function, or an unknown option.
    """
    if function is None:
        return lambda found: BatchedFunction(found, options)
    return BatchedFunction(function, options)


class BatchedFunction:
    """A function whose calls are batched; made by `@accelhal.batch`.

    Its batcher, and thread, begin with the first call.
    """

    def __init__(self, function: ListFunction, options: dict[str, Any]) -> None:
        if not callable(function):
            raise UsageError(
                f"{function!r} is not a function",
                operation="batch",
                hint="@accelhal.batch(max_batch_size=32), with names",
            )
        _check(options)
        self._function = function
        self._options = options
        self._awaited = inspect.iscoroutinefunction(function)
        self._attribute = ""
        self._lock = threading.Lock()
        self._batcher: DynamicBatcher | None = None
        functools.update_wrapper(self, function)

    @property
    def batcher(self) -> DynamicBatcher:
        """What batches the calls."""
        if self._batcher is None:
            with self._lock:
                if self._batcher is None:
                    self._batcher = self._made()
        return self._batcher

    def __call__(self, item: Any, **options: Any) -> Any:
        """The function's result for one item; awaitable where the function is.

        Options are those of `DynamicBatcher.submit`.
        """
        if self._awaited:
            return self.batcher.asubmit(self._item(item), **options)
        return self.batcher(self._item(item), **options)

    def submit(self, item: Any, **options: Any) -> FutureReply:
        """See DynamicBatcher.submit."""
        return self.batcher.submit(self._item(item), **options)

    def asubmit(self, item: Any, **options: Any) -> asyncio.Future[Any]:
        """See DynamicBatcher.asubmit."""
        return self.batcher.asubmit(self._item(item), **options)

    def map(self, items: Iterable[Any], **options: Any) -> list[Any]:
        """See DynamicBatcher.map."""
        return self.batcher.map(map(self._item, items), **options)

    def stats(self) -> BatcherStatistics:
        """See DynamicBatcher.stats."""
        return self.batcher.stats()

    def drain(self, timeout: float = CLOSE_LIMIT_S) -> bool:
        """See DynamicBatcher.drain."""
        return self.batcher.drain(timeout)

    def close(self, drain: bool = True, timeout: float = CLOSE_LIMIT_S) -> bool:
        """See DynamicBatcher.close."""
        return self.batcher.close(drain, timeout)

    def __set_name__(self, owner: type, name: str) -> None:
        self._attribute = name

    def __get__(self, instance: Any, owner: type | None = None) -> BatchedFunction:
        if instance is None:
            return self
        held = _instance_dict(instance, self._function)
        name = f"_accelhal_batch_{self._attribute or self._function.__name__}"
        found: BatchedFunction | None = held.get(name)
        if found is None:
            with self._lock:
                found = held.get(name)
                if found is None:
                    found = held[name] = _BatchedMethod(self._function, self._options, instance)
        return found

    def _item(self, item: Any) -> Any:
        return item

    def _made(self) -> DynamicBatcher:
        model = self._function
        if self._awaited:
            model = InLoop(model)
        return self._new_batcher(model)

    def _new_batcher(self, model: ListFunction) -> DynamicBatcher:
        name = getattr(self._function, "__qualname__", type(self._function).__name__)
        return DynamicBatcher(model, **{"name": name, **self._options, "collate": "list"})


class _BatchedMethod(BatchedFunction):
    """A batched method of one instance.

    Kept by the instance. The batcher holds the instance through its requests alone, so that
    neither keeps the other when both are done with.
    """

    def __init__(self, function: ListFunction, options: dict[str, Any], instance: Any) -> None:
        super().__init__(function, options)
        self._instance = instance

    def _item(self, item: Any) -> Any:
        return self._instance, item

    def _made(self) -> DynamicBatcher:
        function = self._function
        if self._awaited:

            async def arun(pairs: list[tuple[Any, Any]]) -> Any:
                return await function(pairs[0][0], [item for _, item in pairs])

            return self._new_batcher(InLoop(arun))

        def run(pairs: list[tuple[Any, Any]]) -> Any:
            return function(pairs[0][0], [item for _, item in pairs])

        return self._new_batcher(run)


class InLoop:
    """Calls a coroutine function in an event loop of the calling thread's own."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._loop: asyncio.AbstractEventLoop | None = None

    def __call__(self, items: list[Any]) -> Any:
        """The coroutine's result."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        return self._loop.run_until_complete(self._function(items))

    def close_in_lane(self) -> None:
        """Close the loop, in the thread that ran it."""
        if self._loop is not None:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()


def _check(options: dict[str, Any]) -> None:
    known = set(inspect.signature(DynamicBatcher).parameters) - {"model", "lanes", "collate"}
    known -= {"pad_value", "length_buckets", "lengths", "mask", "sequence_output"}
    for name in options:
        if name not in known:
            raise UsageError(
                f"@accelhal.batch has no option {name!r}",
                operation="batch",
                hint="one of: " + ", ".join(sorted(known)),
            )


def _instance_dict(instance: Any, function: ListFunction) -> dict[str, Any]:
    try:
        held: dict[str, Any] = instance.__dict__
    except AttributeError:
        raise UsageError(
            f"{type(instance).__name__} has __slots__, and no place for the batcher of "
            f"{getattr(function, '__name__', function)}",
            operation="batch",
            hint='add "__dict__" to its __slots__',
        ) from None
    return held
