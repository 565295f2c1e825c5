"""Who asked what and what came of it: every request must be answered once, with its own answer."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from dataclasses import dataclass, field

import torch
from torch import Tensor

from benchmarks.batching.soak_model import POISON, VOCABULARY


@dataclass(frozen=True)
class Text:
    """Tokens, with room for a number before them, and their sum."""

    tokens: Tensor
    total: int

    @classmethod
    def random(cls, length: int) -> Text:
        tokens = torch.randint(1, VOCABULARY, (length + 1,))
        return cls(tokens, int(tokens[1:].sum()))


@dataclass(frozen=True)
class Asked:
    """One request.

    Attributes:
        number: Told to nobody else; it leads the request and its answer.
        value: What is sent.
        total: What the model makes of the rest of it.
        poisoned: The model refuses it.
    """

    number: int
    value: Tensor
    total: int
    poisoned: bool


@dataclass
class Ledger:
    """Requests under way, and counts of what became of the others; for any thread.

    Attributes:
        outcomes: Counts of every outcome.
        faults: What must not happen, in words; the first few.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _under_way: set[int] = field(default_factory=set)

    def ask(self, text: Text, poisoned: bool = False) -> Asked:
        """A new request, of these tokens."""
        with self._lock:
            number = next(self._numbers)
            self._under_way.add(number)
        value = text.tokens.clone()
        value[0] = number
        if poisoned:
            value[-1] = POISON
        return Asked(number, value, text.total, poisoned)

    def answered(self, asked: Asked, answer: Tensor) -> None:
        """A result came."""
        number, total = answer.tolist()
        if (number, total) != (asked.number, asked.total):
            self._close(
                asked, "wrong answer", f"request {asked.number} was given {number}'s answer"
            )
        elif asked.poisoned:
            self._close(asked, "poison served", f"request {asked.number} should have failed")
        else:
            self._close(asked, "served")

    def ended(self, asked: Asked, outcome: str, fault: bool = False) -> None:
        """Another end came: an error, or the caller gave up."""
        self._close(asked, outcome, f"request {asked.number} ended: {outcome}" if fault else None)

    def _close(self, asked: Asked, outcome: str, fault: str | None = None) -> None:
        with self._lock:
            self.outcomes[outcome] += 1
            if asked.number in self._under_way:
                self._under_way.remove(asked.number)
            else:
                fault = f"request {asked.number} was answered twice, the second time: {outcome}"
            if fault is not None:
                self.outcomes["FAULTS"] += 1
                if len(self.faults) < 10:
                    self.faults.append(fault)

    def snapshot(self) -> Counter[str]:
        """The counts so far."""
        with self._lock:
            return self.outcomes.copy()

    @property
    def unanswered(self) -> int:
        """Requests under way."""
        with self._lock:
            return len(self._under_way)
