"""Batchers side by side: `python -m benchmarks.batching` measures, `.soak` wears ours out."""
