"""Reads `nvidia-smi --version`: four lines or, since release 610, six."""

from __future__ import annotations

from collections.abc import Sequence

from accelhal.drivers.readings import NotReportedError
from accelhal.facts import Evidence
from accelhal.spi import EvidenceError, EvidenceReader, Section
from accelhal_cuda.evidence import words

_TOOL = "nvidia-smi --version"
_FIRST = "NVIDIA-SMI version"
_NAMES = {
    _FIRST: "tool",
    "NVML version": "library",
    "DRIVER version": "driver",
    "KMD version": "driver",
    "CUDA Version": "toolkit",
    "CUDA UMD Version": "toolkit",
}


def _begins(line: str) -> bool:
    return line.startswith(_FIRST)


def _read(lines: Sequence[str]) -> Section:
    found: dict[str, str] = {}
    length = 0
    for line in lines[: len(_NAMES)]:
        name, colon, value = line.partition(":")
        kind = _NAMES.get(name.strip())
        if not colon or kind is None:
            break
        try:
            version = words.version(value.strip())
        except NotReportedError:
            version = None
        if version is not None and found.setdefault(kind, version) != version:
            raise EvidenceError(length, f"two versions of the {kind}")
        length += 1
    if not found:
        raise EvidenceError(0, "no version on it")
    return Section(Evidence("cuda", _TOOL, versions=found), length)


TOOL_VERSIONS = EvidenceReader(_TOOL, _begins, _read)
