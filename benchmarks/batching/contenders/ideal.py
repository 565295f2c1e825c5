"""No batcher at all: batches that were formed beforehand. Nothing can be quicker."""

from __future__ import annotations

from benchmarks.batching.contenders import Setting

SETTINGS = {"pre-formed": Setting({})}
