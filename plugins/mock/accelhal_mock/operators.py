"""Operators of simulated boards: one kernel for all of them, dense tensors alone."""

from __future__ import annotations

from accelhal.runtimes.operator_record import OperatorSupport

_SPARSE_RESULTS = frozenset(
    {
        "aten::_to_sparse",
        "aten::_to_sparse.sparse_dim",
        "aten::_to_sparse_bsc",
        "aten::_to_sparse_bsr",
        "aten::_to_sparse_csc",
        "aten::_to_sparse_csr",
    }
)

SUPPORT = OperatorSupport(fallback_on_device=True, refused=_SPARSE_RESULTS)
