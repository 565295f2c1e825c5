"""An observer that shows a batcher's figures to Prometheus, through prometheus_client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accelhal.batching.statistics import BatchRecord
from accelhal.errors import UsageError

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class PrometheusObserver:
    """Counts batches in metrics that carry the batcher's name and the lane's as labels.

        DynamicBatcher(model, name="embed", observers=[PrometheusObserver("embed")])

    Several may share a registry: the metrics are made once, and told apart by their labels.

    Args:
        batcher: the label.
        registry: where the metrics are registered; prometheus_client's own when None.

    Raises:
        UsageError: prometheus_client is not installed.
    """

    def __init__(self, batcher: str, registry: CollectorRegistry | None = None) -> None:
        try:
            from prometheus_client import REGISTRY, Counter, Histogram
        except ImportError as error:
            raise UsageError(
                "PrometheusObserver needs prometheus_client",
                operation="PrometheusObserver",
                hint="pip install prometheus_client",
            ) from error
        where = REGISTRY if registry is None else registry
        self._batcher = batcher
        labels = ("batcher", "lane")

        def made(kind: Any, name: str, text: str, *more: str, **options: Any) -> Any:
            name = f"accelhal_batching_{name}"
            # prometheus_client has no public look-up; a second registration would raise.
            known = getattr(where, "_names_to_collectors", {}).get(name)
            return known or kind(name, text, (*labels, *more), registry=where, **options)

        self._batches = made(Counter, "batches", "Batches run", "reason")
        self._requests = made(Counter, "requests", "Requests answered", "outcome")
        self._rows = made(Histogram, "batch_rows", "Rows of a batch", buckets=ROWS)
        self._tokens = made(Counter, "tokens", "Entries given to the model", "kind")
        self._wait = made(
            Histogram, "queue_wait_seconds", "Wait of a batch's first request", buckets=SECONDS
        )
        self._service = made(
            Histogram, "service_seconds", "From forming a batch to its answers", buckets=SECONDS
        )
        self._isolated = made(Counter, "isolated", "Batches run again in parts after an error")

    def on_batch(self, record: BatchRecord) -> None:
        """See Observer."""
        labels = (self._batcher, record.lane)
        self._batches.labels(*labels, record.reason.value).inc()
        self._requests.labels(*labels, "result").inc(record.requests - record.failed)
        self._requests.labels(*labels, "error").inc(record.failed)
        self._rows.labels(*labels).observe(record.rows)
        self._tokens.labels(*labels, "real").inc(record.tokens)
        self._tokens.labels(*labels, "padding").inc(record.padded_tokens - record.tokens)
        self._wait.labels(*labels).observe(record.queue_wait)
        self._service.labels(*labels).observe(record.service)
        self._isolated.labels(*labels).inc(record.isolated)
