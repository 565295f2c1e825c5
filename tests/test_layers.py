"""The rules of the house: layers never name a vendor, the public package stays light."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

import accelhal

CORE = Path(accelhal.__file__).parent

LAYERS = (
    "batching",
    "bench",
    "cli",
    "distributed",
    "doctor",
    "drivers",
    "graphs",
    "management",
    "operators",
    "parallel",
    "partitions",
    "selection",
    "topology",
)
"""Code above the interface: no vendor word, not even in a comment."""

VENDOR_WORDS = re.compile(
    r"nvidia|cuda|nvml|nvlink|nccl|\bmig\b"
    r"|\bascend\b|accelhal_ascend|huawei|\bnpu\b|torch_npu|\bcann\b|dcmi|hccs|hccl"
    r"|cambricon|\bmlu\b|torch_mlu|cndev|cncl|neuware",
    re.IGNORECASE,
)

EXAMPLE_NAMES = re.compile(r'"(npu|cuda)(@distribution)?(:[0-9])?"')
"""Device names that messages show as examples of how to write one."""


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (CORE / folder).rglob("*.py"))


def code_lines(path: Path) -> list[str]:
    """The file's lines without comments and docstrings, one string a token's line."""
    source = path.read_text(encoding="utf-8")
    documented: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            documented.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return [
        token.line.strip()
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type in (tokenize.NAME, tokenize.STRING)
        and token.start[0] not in documented
        and VENDOR_WORDS.search(EXAMPLE_NAMES.sub("", token.line))
    ]


@pytest.mark.parametrize("path", sources(*LAYERS), ids=lambda p: str(p.relative_to(CORE)))
def test_layers_hold_no_vendor_word(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if VENDOR_WORDS.search(line)] == []


@pytest.mark.parametrize("path", sources(""), ids=lambda p: str(p.relative_to(CORE)))
def test_core_code_names_no_vendor(path: Path) -> None:
    assert code_lines(path) == []


def test_import_takes_neither_torch_nor_a_plugin() -> None:
    code = (
        "import sys, accelhal\n"
        "accelhal.backends, accelhal.AccelhalError\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(n for n in loaded if n in ('torch', 'numpy') or n.startswith('accelhal_')))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert out.stdout.strip() == "[]", out.stdout + out.stderr


def test_listing_backends_takes_no_torch() -> None:
    code = "import sys, accelhal as a; a.backends(); a.boards(); print('torch' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert out.stdout.strip() == "False", out.stderr


def test_public_names_resolve() -> None:
    for name in accelhal.__all__:
        assert getattr(accelhal, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = accelhal.nope


def test_type_checkers_see_the_names_that_are_loaded_lazily() -> None:
    source = Path(accelhal.__file__).read_text(encoding="utf-8")
    imported = {
        alias.asname: node.module
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("accelhal.")
        for alias in node.names
    }
    assert imported == accelhal._HOME


def test_the_device_function_survives_importing_its_home() -> None:
    import accelhal.facade

    assert callable(accelhal.device)
