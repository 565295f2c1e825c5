"""docs/conformance.md, followed step by step: a new backend, red, then green."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "conformance.md"
START, END = "## A backend of your own", "A plugin that names such a class"
FILE = re.compile(r"`([\w./]+\.(?:py|toml))`:\s*$")


@dataclass(frozen=True)
class Block:
    """A fenced block, and the line of prose before it."""

    language: str
    code: str
    before: str


@dataclass
class Folder:
    """The reader's folder and environment."""

    path: Path
    site: Path
    shown: str = ""
    code: int = 0

    def run(self, line: str) -> None:
        """One command of the page. Only pip is told to install beside the environment."""
        program, *arguments = shlex.split(line)
        if program == "pip":
            arguments += [
                "--quiet",
                "--no-deps",
                "--no-build-isolation",
                "--disable-pip-version-check",
            ]
            arguments += ["--upgrade", "--target", str(self.site)]
        search = [str(self.site), *(entry for entry in sys.path if entry)]
        environ = {name: value for name, value in os.environ.items() if "ACCELHAL" not in name}
        ended = subprocess.run(
            [sys.executable, "-m", program, *arguments],
            cwd=self.path,
            env={**environ, "PYTHONPATH": os.pathsep.join(search), "PYTHONSAFEPATH": "1"},
            capture_output=True,
            text=True,
            timeout=290,
        )
        self.shown, self.code = ended.stdout + ended.stderr, ended.returncode
        if program == "pip":
            assert self.code == 0, self.shown


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_page_leads_from_an_empty_folder_to_green(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "abacus", tmp_path / "site")
    folder.path.mkdir()
    replaced, old = "", ""
    for block in blocks():
        named = FILE.search(block.before)
        if block.language == "console":
            for line in block.code.splitlines():
                folder.run(line.removeprefix("$ "))
        elif block.language == "text":
            assert_shown(block.code, folder.shown)
            assert folder.code == 2
        elif named:
            replaced = named[1]
            target = folder.path / replaced
            target.parent.mkdir(exist_ok=True)
            target.write_text(block.code)
        elif block.before.endswith("replace"):
            inner = re.search(r"In `([\w./]+)`", block.before)
            replaced, old = inner[1] if inner else replaced, block.code
        else:
            assert block.before == "with"
            target = folder.path / replaced
            before = target.read_text()
            assert before.count(old) == 1
            target.write_text(before.replace(old, block.code))
        if block.language == "console" and "pytest" in block.code:
            assert re.search(r"\d+ passed", folder.shown), folder.shown
        if block.language == "console" and "out_of_memory" not in block.code:
            assert folder.code == 0, folder.shown


def blocks() -> list[Block]:
    """The blocks of the walk-through, in order."""
    text = PAGE.read_text()
    part = text[text.index(START) : text.index(END)]
    found = re.finditer(r"([^\n]*)\n\n```(\w+)\n(.*?)```", part, re.DOTALL)
    return [Block(match[2], match[3], match[1]) for match in found]


def assert_shown(expected: str, shown: str) -> None:
    """The page's lines stand in the output, in that order."""
    position = 0
    for line in expected.splitlines():
        position = shown.find(line, position)
        assert position >= 0, f"{line!r} is not shown in:\n{shown}"
