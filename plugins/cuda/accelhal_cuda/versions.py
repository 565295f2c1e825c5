"""Versions of NVIDIA's components on a host, in the words of compatibility.py."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from accelhal.facts.host_record import HostRecord

MODULE_FILE = "/proc/driver/nvidia/version"

_MODULE_VERSION = re.compile(r"^NVRM version:.*?\s(\d+\.\d[\d.]*)", re.MULTILINE)
_FILE_VERSION = re.compile(r"\.so\.(\d+\.\d[\d.]*)$")

_OF_CUDA = re.compile(r"\d{1,2}\.(\d{3}\.[\d.]+)")
"""NVML's own version begins with the CUDA release: "12.550.54.15"."""

_COMPAT_FOLDER = "compat"
"""Folder of the package cuda-compat, in images and in /usr/local/cuda-X."""


def component_versions(record: HostRecord, reported: Mapping[str, str]) -> Mapping[str, str]:
    """Component -> version; what was not seen is left out."""
    found = {
        "driver": _module(record) or reported.get("driver"),
        "library": _library(record, reported),
        "compat": file_version(compat_library(record)),
        "toolkit": (record.torch_builds or {}).get("cuda"),
        "torch": (record.packages or {}).get("torch"),
    }
    return {name: version for name, version in found.items() if version}


def compat_library(record: HostRecord) -> str:
    """The libcuda that the loader takes, where it is of cuda-compat; else empty."""
    path = (record.libraries or {}).get("libcuda.so.1", "")
    return path if _COMPAT_FOLDER in PurePosixPath(path).parts else ""


def file_version(path: str) -> str:
    """The version in a library's file name; empty where it has none."""
    found = _FILE_VERSION.search(path)
    return found[1] if found else ""


def _module(record: HostRecord) -> str:
    version = (record.modules or {}).get("nvidia", "")
    found = _MODULE_VERSION.search(record.files.get(MODULE_FILE, ""))
    return version or (found[1] if found else "")


def _library(record: HostRecord, reported: Mapping[str, str]) -> str:
    version = file_version((record.libraries or {}).get("libnvidia-ml.so.1", ""))
    told = reported.get("library", "")
    prefixed = _OF_CUDA.fullmatch(told)
    return version or (prefixed[1] if prefixed else told)
