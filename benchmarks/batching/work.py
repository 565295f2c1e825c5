"""The models that every contender batches: the same function of a list for all of them."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

MAX_BATCH_SIZE = 32
SHORTEST, LONGEST = 4, 128
_WIDTH = 64
_VOCABULARY = 1000


@dataclass
class Tally:
    """What reached the model: how full the batches were, and how much of them was padding."""

    batches: int = 0
    rows: int = 0
    tokens: int = 0
    padded_tokens: int = 0

    def add(self, rows: int, tokens: int = 0, padded_tokens: int = 0) -> None:
        self.batches += 1
        self.rows += rows
        self.tokens += tokens
        self.padded_tokens += padded_tokens

    def copy(self) -> Tally:
        return Tally(self.batches, self.rows, self.tokens, self.padded_tokens)


@dataclass(frozen=True)
class Work:
    """One model as batchers see it.

    Attributes:
        of_list: From a list of requests to the list of their results.
        inputs: Requests to send, in turn.
        of_batch: The model alone, for a batcher that stacks by itself; none where a request is
            no tensor of one shape.
        of_padded: The model over (padded batch, lengths), for a batcher that pads by itself.
        tally: What reached the model.
    """

    of_list: Callable[[list[Tensor]], list[Tensor]]
    inputs: list[Tensor]
    of_batch: Callable[[Tensor], Tensor] | None = None
    of_padded: Callable[[Tensor, Tensor], Tensor] | None = None
    tally: Tally = field(default_factory=Tally)


def noop() -> Work:
    """Hands the requests back: what is measured is the batcher."""
    tally = Tally()

    def of_list(xs: list[Tensor]) -> list[Tensor]:
        tally.add(len(xs))
        return list(xs)

    return Work(of_list, [torch.randn(_WIDTH) for _ in range(64)], tally=tally)


def mlp() -> Work:
    """Two small layers: stacking, the model and unstacking cost about 3 us a request."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(_WIDTH, 256), nn.ReLU(), nn.Linear(256, _WIDTH)).eval()
    tally = Tally()

    def of_batch(x: Tensor) -> Tensor:
        tally.add(len(x))
        with torch.inference_mode():
            return model(x)

    def of_list(xs: list[Tensor]) -> list[Tensor]:
        return list(of_batch(torch.stack(list(xs))).unbind(0))

    return Work(of_list, [torch.randn(_WIDTH) for _ in range(64)], of_batch=of_batch, tally=tally)


def device() -> Work:
    """A device that takes 1 ms a batch and 10 us a request, and leaves the interpreter free."""
    tally = Tally()

    def of_list(xs: list[Tensor]) -> list[Tensor]:
        tally.add(len(xs))
        time.sleep(1e-3 + 1e-5 * len(xs))
        return list(xs)

    inputs = [torch.randn(_WIDTH) for _ in range(64)]
    return Work(of_list, inputs, tally=tally)


class Encoder(nn.Module):
    """A transformer layer and a mean over the tokens that are there."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(_VOCABULARY, _WIDTH)
        layer = nn.TransformerEncoderLayer(_WIDTH, 4, 4 * _WIDTH, dropout=0.0, batch_first=True)
        # Nested tensors would skip padding, which compiled models and most boards compute.
        self.layers = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        there = torch.arange(tokens.shape[1])[None, :] < lengths[:, None]
        hidden = self.layers(self.embedding(tokens), src_key_padding_mask=~there)
        return (hidden * there[..., None]).sum(1) / lengths[:, None]


def encoder() -> Work:
    """Sequences of 4 to 128 tokens, short ones more often.

    Padded first come first served, less than a third of a batch is tokens.
    """
    torch.manual_seed(0)
    model = Encoder().eval()
    tally = Tally()

    def of_padded(tokens: Tensor, lengths: Tensor) -> Tensor:
        tally.add(len(tokens), int(lengths.sum()), tokens.numel())
        with torch.inference_mode():
            return model(tokens, lengths)

    def of_list(xs: list[Tensor]) -> list[Tensor]:
        padded = nn.utils.rnn.pad_sequence(list(xs), batch_first=True)
        return list(of_padded(padded, torch.tensor([len(x) for x in xs])).unbind(0))

    pick = random.Random(0)
    spread = math.log(LONGEST / SHORTEST)
    lengths = [round(SHORTEST * math.exp(spread * pick.random())) for _ in range(1024)]
    inputs = [torch.randint(_VOCABULARY, (length,)) for length in lengths]
    return Work(of_list, inputs, of_padded=of_padded, tally=tally)


WORKS: dict[str, Callable[[], Work]] = {
    "noop": noop,
    "mlp": mlp,
    "device": device,
    "encoder": encoder,
}
