"""Transformer encoders: BERT-base in its published shape, and a small one of the same blocks.

The blocks are written out, because torch's own encoder layer takes a fused path on some device
types only; every device is to run the same operators.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  (torch's own convention)

from accelhal.bench.workload import MakeBatch


@dataclass(frozen=True)
class EncoderShape:
    """Sizes of an encoder; `sequence` is the length of the benchmark's inputs, in tokens."""

    vocabulary: int
    positions: int
    width: int
    heads: int
    feed_forward: int
    layers: int
    sequence: int


SMALL = EncoderShape(
    vocabulary=8192, positions=128, width=256, heads=4, feed_forward=1024, layers=4, sequence=64
)

BERT_BASE = EncoderShape(
    vocabulary=30522,
    positions=512,
    width=768,
    heads=12,
    feed_forward=3072,
    layers=12,
    sequence=128,
)
"""Devlin et al., "BERT" (2018), section 3: L=12, H=768, A=12; the uncased vocabulary."""

_SEGMENTS = 2
_DROPOUT = 0.1
_EPSILON = 1e-12  # of BERT's layer norms


class SelfAttention(nn.Module):
    """Multi-head attention of a sequence to itself, with BERT's output projection."""

    def __init__(self, shape: EncoderShape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.query = nn.Linear(shape.width, shape.width)
        self.key = nn.Linear(shape.width, shape.width)
        self.value = nn.Linear(shape.width, shape.width)
        self.output = nn.Linear(shape.width, shape.width)

    def forward(self, hidden: Tensor) -> Tensor:
        """Attend over (batch, sequence, width)."""
        mixed = F.scaled_dot_product_attention(
            self._split(self.query(hidden)),
            self._split(self.key(hidden)),
            self._split(self.value(hidden)),
            dropout_p=_DROPOUT if self.training else 0.0,
        )
        projected: Tensor = self.output(mixed.transpose(1, 2).flatten(2))
        return projected

    def _split(self, projected: Tensor) -> Tensor:
        """(batch, sequence, width) -> (batch, heads, sequence, width of a head)."""
        split: Tensor = projected.unflatten(-1, (self.heads, -1))
        return split.transpose(1, 2)


class EncoderLayer(nn.Module):
    """One post-norm transformer block: attention, then the feed-forward pair."""

    def __init__(self, shape: EncoderShape) -> None:
        super().__init__()
        self.attention = SelfAttention(shape)
        self.attention_norm = nn.LayerNorm(shape.width, eps=_EPSILON)
        self.expand = nn.Linear(shape.width, shape.feed_forward)
        self.contract = nn.Linear(shape.feed_forward, shape.width)
        self.output_norm = nn.LayerNorm(shape.width, eps=_EPSILON)
        self.dropout = nn.Dropout(_DROPOUT)

    def forward(self, hidden: Tensor) -> Tensor:
        """Transform (batch, sequence, width)."""
        hidden = self.attention_norm(hidden + self.dropout(self.attention(hidden)))
        inner = self.contract(F.gelu(self.expand(hidden)))
        output: Tensor = self.output_norm(hidden + self.dropout(inner))
        return output


class Encoder(nn.Module):
    """Embeddings, a stack of blocks and BERT's pooler over the first token."""

    def __init__(self, shape: EncoderShape) -> None:
        super().__init__()
        self.tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.positions = nn.Embedding(shape.positions, shape.width)
        self.segments = nn.Embedding(_SEGMENTS, shape.width)
        self.norm = nn.LayerNorm(shape.width, eps=_EPSILON)
        self.dropout = nn.Dropout(_DROPOUT)
        self.layers = nn.ModuleList(EncoderLayer(shape) for _ in range(shape.layers))
        self.pooler = nn.Linear(shape.width, shape.width)

    def forward(self, tokens: Tensor) -> Tensor:
        """Pooled output (batch, width) of token ids (batch, sequence), all of one segment."""
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        embedded = self.tokens(tokens) + self.positions(positions)
        hidden = embedded + self.segments(torch.zeros_like(tokens))
        hidden = self.dropout(self.norm(hidden))
        for layer in self.layers:
            hidden = layer(hidden)
        first: Tensor = self.pooler(hidden[:, 0])
        return torch.tanh(first)


def small_encoder() -> tuple[nn.Module, MakeBatch]:
    """Four blocks of width 256 on 64 tokens."""
    return _workload(SMALL)


def bert_base() -> tuple[nn.Module, MakeBatch]:
    """BERT-base with random weights on 128 tokens."""
    return _workload(BERT_BASE)


def _workload(shape: EncoderShape) -> tuple[nn.Module, MakeBatch]:
    def token_ids(batch_size: int) -> Tensor:
        return torch.randint(shape.vocabulary, (batch_size, shape.sequence))

    return Encoder(shape), token_ids
