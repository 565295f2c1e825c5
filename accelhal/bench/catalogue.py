"""The models that come with accelhal: names and where they are built, readable without torch."""

from __future__ import annotations

from collections.abc import Mapping

BUILT_IN: Mapping[str, str] = {
    "mlp": "accelhal.bench.models.mlp:mlp",
    "encoder": "accelhal.bench.models.transformer:small_encoder",
    "resnet50": "accelhal.bench.models.resnet:resnet50",
    "bert-base": "accelhal.bench.models.transformer:bert_base",
    "lstm": "accelhal.bench.models.lstm:lstm",
}
"""Name -> factory, "module:attribute"; each keeps the contract in `accelhal.bench.workload`."""

QUICK = ("mlp", "encoder")
"""The models that are done in seconds on two processor cores."""
