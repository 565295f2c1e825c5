"""Results that a lane holds a little longer, so that its callers' drops cost nothing.

torch lets go of the interpreter whenever a tensor ends. Where a caller drops the last reference to
its result, its thread hands the interpreter to a lane that waits for it, once a request: batches
are formed of whoever has asked by then, and half of the time goes into handing over.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

MOST_BYTES = 1 << 20
"""Memory that a lane may keep from one batch to the next."""


def kept_a_while(results: Sequence[Any]) -> Sequence[Any]:
    """The results, if they are small tensors of the host without a graph; else none."""
    first = results[0]
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(first, torch.Tensor):
        return ()
    if first.requires_grad or not first.is_cpu:
        return ()
    return results if first.nbytes * len(results) <= MOST_BYTES else ()
