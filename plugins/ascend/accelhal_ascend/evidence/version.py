"""`npu-smi -v`: the tool's version."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from accelhal.drivers.printed import word
from accelhal.drivers.readings import or_none
from accelhal.spi import EvidenceError, EvidenceReader, Section
from accelhal_ascend.evidence.chips import evidence

_PAGE = "npu-smi -v"
_PREFIX = "npu-smi version:"


def _begins(line: str) -> bool:
    return line.strip().startswith(_PREFIX)


def _read(lines: Sequence[str]) -> Section:
    text = lines[0].strip().removeprefix(_PREFIX)
    version = or_none(partial(word, text))
    if version is None or len(version.split()) != 1:
        raise EvidenceError(0, f"no version: {text.strip()[:40]!r}")
    return Section(evidence(_PAGE, versions={"tool": version}), 1)


VERSION = EvidenceReader(_PAGE, _begins, _read)
