"""Versions of Huawei's components on a host, in the words of compatibility.py."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from accelhal.facts.host_record import HostRecord

DRIVER_FILE = "/usr/local/Ascend/driver/version.info"
FIRMWARE_FILE = "/usr/local/Ascend/firmware/version.info"

_HOMES = ("$ASCEND_HOME_PATH", "$ASCEND_TOOLKIT_HOME")
_FOLDERS = ("/usr/local/Ascend/ascend-toolkit/latest", "/usr/local/Ascend/cann")
_INSTALLED = "*-linux/ascend_toolkit_install.info"

FILES = (
    DRIVER_FILE,
    FIRMWARE_FILE,
    *(f"{home}/{_INSTALLED}" for home in (*_HOMES, *_FOLDERS)),
)

PACKAGES = {
    "torch": "torch",
    "torch_npu": "torch_npu",
    "vllm": "vllm",
    "vllm_ascend": "vllm_ascend",
    "triton_ascend": "triton_ascend",
}
"""Component -> distribution."""


def component_versions(record: HostRecord, reported: Mapping[str, str]) -> Mapping[str, str]:
    """Component -> version; what was not seen is left out."""
    driver = record.files.get(DRIVER_FILE, "")
    packages = record.packages or {}
    found = {
        # From release 26 on, Version may be a component's; package_version is the driver's.
        "driver": _value(driver, "package_version")
        or _value(driver, "Version")
        or reported.get("driver"),
        "firmware": _value(record.files.get(FIRMWARE_FILE, ""), "Version"),
        "driver_firmware": _value(driver, "compatible_version_fw"),
        "cann": _toolkit(record),
        **{component: packages.get(name) for component, name in PACKAGES.items()},
    }
    return {name: version for name, version in found.items() if version}


def _toolkit(record: HostRecord) -> str | None:
    """CANN's version, first of the installation that the variables name."""
    variables = record.variables or {}
    homes = [variables[home[1:]] for home in _HOMES if variables.get(home[1:])]
    paths = [path for path in record.files if path.endswith("/ascend_toolkit_install.info")]
    return next(
        (
            version
            for path in (*_under(homes, paths), *_under(_FOLDERS, paths))
            if (version := _value(record.files[path], "version"))
        ),
        None,
    )


def _under(folders: Iterable[str], paths: Iterable[str]) -> list[str]:
    known = list(paths)
    return [path for folder in folders for path in known if path.startswith(f"{folder}/")]


def _value(text: str, name: str) -> str | None:
    found = re.search(rf"^{name}=(\S+)", text, re.MULTILINE)
    return found[1] if found else None
