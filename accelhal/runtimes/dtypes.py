"""Element types that several device types share."""

from __future__ import annotations

import torch

COMMON_DTYPES = frozenset(
    {
        torch.bool,
        torch.uint8,
        torch.int8,
        torch.int16,
        torch.int32,
        torch.int64,
        torch.float16,
        torch.float32,
    }
)
"""What any device holds."""

WIDE_DTYPES = frozenset({torch.float64, torch.complex64, torch.complex128})
"""What needs double precision or complex arithmetic, which many accelerators lack."""
