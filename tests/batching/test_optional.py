"""With packages that are not always installed: uvloop and prometheus_client."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import pytest

from accelhal.batching import DynamicBatcher
from accelhal.batching.prometheus import PrometheusObserver
from accelhal.errors import UsageError

from .conftest import LIMIT

Make = Callable[..., DynamicBatcher]


def test_uvloop_is_served(make: Make) -> None:
    uvloop = pytest.importorskip("uvloop")
    batcher = make(lambda items: items, collate="list")

    async def ask() -> list[Any]:
        futures = [batcher.asubmit(n) for n in range(100)]
        futures[3].cancel()
        return await asyncio.wait_for(asyncio.gather(*futures, return_exceptions=True), LIMIT)

    loop = uvloop.new_event_loop()
    try:
        answers = loop.run_until_complete(ask())
    finally:
        loop.close()
    assert isinstance(answers.pop(3), asyncio.CancelledError)
    assert answers == [n for n in range(100) if n != 3]


def test_prometheus_sees_each_batch(make: Make) -> None:
    prometheus_client = pytest.importorskip("prometheus_client")
    registry = prometheus_client.CollectorRegistry()

    def model(items: list[Any]) -> list[Any]:
        if "bad" in items:
            raise ValueError
        return items

    for name in ("one", "two"):
        batcher = make(model, collate="list", observers=[PrometheusObserver(name, registry)])
        batcher.map([1, 2, "bad"], return_exceptions=True)
        assert batcher.close()
    for name in ("one", "two"):
        labels = {"batcher": name, "lane": "host"}

        def value(metric: str, labels: dict[str, str]) -> Any:
            return registry.get_sample_value(f"accelhal_batching_{metric}", labels)

        assert value("requests_total", {**labels, "outcome": "result"}) == 2
        assert value("requests_total", {**labels, "outcome": "error"}) == 1
        assert value("batch_rows_sum", labels) == 3
        assert value("queue_wait_seconds_count", labels) >= 1


def test_without_prometheus_the_next_step_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(UsageError, match="pip install prometheus_client"):
        PrometheusObserver("any")
