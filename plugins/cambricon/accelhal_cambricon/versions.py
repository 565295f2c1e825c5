"""Versions of Cambricon's components on a host, in the words of compatibility.py."""

from __future__ import annotations

import re
from collections.abc import Mapping

from accelhal.facts.host_record import HostRecord

NEUWARE_FILE = "/usr/local/neuware/version.txt"
"""Where the toolkit says its version: "Neuware Version 4.4.3"."""

PACKAGES = ("torch_mlu", "triton", "paddlepaddle", "vllm")


def component_versions(record: HostRecord, reported: Mapping[str, str]) -> Mapping[str, str]:
    """Component -> version; what was not seen is left out."""
    packages = record.packages or {}
    neuware = re.search(r"\d+\.\d+\.\d+", record.files.get(NEUWARE_FILE, ""))
    driver = (record.modules or {}).get("cambricon_drv") or reported.get("driver", "")
    found = {
        "driver": driver.removeprefix("v"),
        "cndev": reported.get("library"),
        "neuware": neuware[0] if neuware else None,
        "torch": packages.get("torch"),
        "torch_mlu": packages.get("torch_mlu"),
        "paddlepaddle": packages.get("paddlepaddle"),
        "triton": packages.get("triton") if "mlu" in packages.get("triton", "") else None,
    }
    return {name: version for name, version in found.items() if version}
