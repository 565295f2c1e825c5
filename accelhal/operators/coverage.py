"""How a backend runs an operator: by its own kernel, as a composite, on the host, or not at all."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

import torch

from accelhal.operators.composites import (
    COMPOSITE_EXPLICIT,
    COMPOSITE_IMPLICIT,
    COMPOSITE_NON_FUNCTIONAL,
    has_kernel,
    out_form,
)
from accelhal.runtimes.operator_record import OperatorRecord, OperatorSupport

_FOR_THE_PROCESSOR = re.compile(r"aten::(_?mkldnn_\w+|\w+_for_cpu(_backward)?)(\.\w+)?")
"""Operators that torch takes in the place of others where the operands lie on the processor."""

_OWN_NAMESPACE = "aten::"


class Coverage(str, Enum):
    """How a backend runs an operator."""

    NATIVE = "native"
    COMPOSITE = "composite"
    FALLS_BACK = "falls_back"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Judgement:
    """How one operator runs on the backend.

    Attributes:
        coverage: how.
        decomposed: whether the trace meets the operators that it is made of.
        reason: what else is known of it; empty where the coverage says all.
    """

    coverage: Coverage
    decomposed: bool = False
    reason: str = ""


class OperatorTable(ABC):
    """Judges operators by their full names ("aten::add.Tensor").

    Attributes:
        source: where the knowledge comes from.
    """

    source: str

    def __init__(self) -> None:
        self._judged: dict[str, Judgement] = {}

    def judge(self, name: str) -> Judgement:
        """How the backend runs the operator."""
        found = self._judged.get(name)
        if found is None:
            found = self._judged[name] = self._judge(name)
        return found

    @abstractmethod
    def own(self, name: str) -> Judgement | None:
        """What the backend itself says of the operator, by a kernel or by refusing it."""

    @abstractmethod
    def without_kernel(self, name: str) -> Judgement:
        """How it runs an operator that it says nothing of, and that is not a composite one."""

    def _judge(self, name: str) -> Judgement:
        own = self.own(name)
        if own is not None:
            return own
        out = out_form(name)
        if out is not None:
            found = self.judge(out)
            if found.coverage in (Coverage.NATIVE, Coverage.COMPOSITE):
                return Judgement(Coverage.COMPOSITE, reason=found.reason)
            return Judgement(found.coverage, reason=found.reason or f"it calls {out}")
        if has_kernel(name, COMPOSITE_NON_FUNCTIONAL) or has_kernel(name, COMPOSITE_EXPLICIT):
            return Judgement(Coverage.COMPOSITE)
        if has_kernel(name, COMPOSITE_IMPLICIT):
            return Judgement(Coverage.COMPOSITE, decomposed=True)
        return self.without_kernel(name)


class DispatcherTable(OperatorTable):
    """The registrations in this process's dispatcher: the truth where the backend is loaded.

    Args:
        key: the backend's dispatch key ("PrivateUse1").
        support: what its plugin knows, or None.
        source: how to call it.
        records: what is known of kernels that compute on the host in some cases.
    """

    def __init__(
        self,
        key: str,
        support: OperatorSupport | None,
        source: str,
        records: Iterable[OperatorRecord] = (),
    ) -> None:
        super().__init__()
        self.source = source
        self._key = key
        self._refused = support.refused if support else frozenset()
        self._conditional = frozenset[str]().union(*(record.conditional for record in records))
        fallback = torch._C._dispatch_has_backend_fallback(torch._C._dispatch_key_parse(key))
        self._without_kernel = _fallback(fallback, support)

    def own(self, name: str) -> Judgement | None:
        """Its registered kernel, or the plugin's word that it refuses the operator."""
        if name in self._refused:
            return Judgement(Coverage.MISSING, reason="the backend refuses it")
        if has_kernel(name, self._key) or has_kernel(name, f"Autograd{self._key}"):
            return _kernel(name, self._conditional)
        return None

    def without_kernel(self, name: str) -> Judgement:
        """What the backend's fallback for all operators does."""
        return self._without_kernel


class RecordTable(OperatorTable):
    """A record of the backend's kernels, and torch's own composites."""

    def __init__(self, record: OperatorRecord, support: OperatorSupport | None) -> None:
        super().__init__()
        self.source = f"record of {record.package} {record.version}"
        if record.package != "torch":
            self.source += f" with torch {record.torch}"
        self._record = record
        self._without_kernel = _fallback(record.fallback, support)

    def own(self, name: str) -> Judgement | None:
        """Its recorded kernel."""
        return _kernel(name, self._record.conditional) if name in self._record.kernels else None

    def without_kernel(self, name: str) -> Judgement:
        """What the package does with torch's operators; others' may come from elsewhere."""
        if name.startswith(_OWN_NAMESPACE):
            return self._without_kernel
        return Judgement(
            Coverage.UNKNOWN,
            reason="the record does not cover the library that brings this operator",
        )


class UnknownTable(OperatorTable):
    """No knowledge of the backend's kernels: only torch's own composites can be told."""

    source = "none"

    def own(self, name: str) -> Judgement | None:
        """Nothing is known."""
        return None

    def without_kernel(self, name: str) -> Judgement:
        """Nothing is known."""
        return Judgement(Coverage.UNKNOWN)


class TracedOnProcessor(OperatorTable):
    """Another table, for a trace that runs on the processor in the backend's place."""

    def __init__(self, table: OperatorTable) -> None:
        super().__init__()
        self.source = table.source
        self._table = table

    def own(self, name: str) -> Judgement:
        """The other table's word, unless the operator is met on the processor only."""
        found = self._table.judge(name)
        lacking = found.coverage in (Coverage.MISSING, Coverage.FALLS_BACK)
        if lacking and _FOR_THE_PROCESSOR.fullmatch(name):
            return Judgement(
                Coverage.UNKNOWN,
                reason="torch takes it on the processor only; the device takes another",
            )
        return found

    def without_kernel(self, name: str) -> Judgement:
        """The other table's word."""
        return self._table.without_kernel(name)


def _fallback(registered: bool, support: OperatorSupport | None) -> Judgement:
    if not registered:
        return Judgement(Coverage.MISSING)
    # It computes on the host unless the plugin says otherwise.
    on_device = support is not None and support.fallback_on_device
    return Judgement(Coverage.NATIVE if on_device else Coverage.FALLS_BACK)


def _kernel(name: str, conditional: frozenset[str]) -> Judgement:
    reason = "its kernel computes on the host in some cases" if name in conditional else ""
    return Judgement(Coverage.NATIVE, reason=reason)
