"""A word-level LSTM language model: recurrent work, one small step after another."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from accelhal.bench.workload import MakeBatch

# Zaremba et al., "Recurrent Neural Network Regularization" (2014), section 4.1, the medium model.
VOCABULARY = 10_000
WIDTH = 650
LAYERS = 2
STEPS = 35
DROPOUT = 0.5


class LanguageModel(nn.Module):
    """Embedding, two LSTM layers, and scores over the vocabulary at every step."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH, LAYERS, batch_first=True, dropout=DROPOUT)
        self.dropout = nn.Dropout(DROPOUT)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens: Tensor) -> Tensor:
        """Scores (batch, steps, vocabulary) of token ids (batch, steps)."""
        hidden, _ = self.lstm(self.dropout(self.embedding(tokens)))
        scores: Tensor = self.head(self.dropout(hidden))
        return scores


def lstm() -> tuple[nn.Module, MakeBatch]:
    """Two LSTM layers of 650 units, unrolled over 35 words."""
    return LanguageModel(), _token_ids


def _token_ids(batch_size: int) -> Tensor:
    return torch.randint(VOCABULARY, (batch_size, STEPS))
