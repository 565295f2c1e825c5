"""What lines of programs, the loader and cnmon say of driver, libraries and containers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from accelhal.facts import FindingState
from accelhal.spi.doctor import MessageRule, Text
from accelhal_cambricon.installing import INSTALL, RUN

TEXTS: Mapping[str, Text] = {
    "cambricon.symbol": Text(
        "{device}: libcndev.so has no {symbol}",
        "The library is older or newer than the program that asks for the function.",
        "libcndev.so of the release that the program was built for, or a program that asks for "
        "each function by itself",
    ),
    "cambricon.no_library": Text(
        "{device}: the library {library} is not found",
        "The toolkit is not installed, or the loader does not look in its folder.",
        "the loader finds it in /usr/local/neuware/lib64",
    ),
    "cambricon.no_driver": Text(
        "{device}: the kernel driver is not loaded",
        "CNDev finds no driver: it is not installed, or was not built for the running kernel.",
        "the module cambricon_drv is loaded",
    ),
    "cambricon.too_old": Text(
        "{device}: the driver is older than CNDev needs",
        "The toolkit's libraries ask for a newer driver.",
        "a driver of the toolkit's release",
    ),
    "cambricon.no_board": Text(
        "{device}: no board in this container",
        "The container was started without /dev/cambricon_dev*, or its scheduler gave it none.",
        "a node for each board",
    ),
    "cambricon.no_right": Text(
        "{device}: no right to open the driver's nodes",
        "The process may not open /dev/cambricon_*.",
        "read and write rights on the nodes",
    ),
}

MESSAGES: tuple[MessageRule, ...] = (
    MessageRule(
        pattern=re.compile(r"undefined symbol:? (?P<symbol>cndev\w+)"),
        needle="undefined symbol",
        check="driver.userlib",
        code="cambricon.symbol",
        commands=(
            "ldconfig -p | grep libcndev",
            "nm -D --defined-only /usr/local/neuware/lib64/libcndev.so | grep {symbol}",
            "cnmon",
        ),
    ),
    MessageRule(
        pattern=re.compile(
            r"\b(?P<library>lib(?:cndev|cnrt|cndrv)\.so)[^\n]*(?:cannot open|not found)"
        ),
        needle=".so",
        check="driver.userlib",
        code="cambricon.no_library",
        commands=(
            "ls /usr/local/neuware/lib64",
            "export LD_LIBRARY_PATH=/usr/local/neuware/lib64:$LD_LIBRARY_PATH",
        ),
    ),
    MessageRule(
        pattern=re.compile(r"\bCNDEV_ERROR_NO_DRIVER\b"),
        needle="CNDEV_ERROR_NO_DRIVER",
        check="driver.module",
        code="cambricon.no_driver",
        commands=INSTALL,
        needs_root=True,
    ),
    MessageRule(
        pattern=re.compile(r"LOW_DRIVER_VERSION\b|CN_ERROR_SYSTEM_DRIVER_MISMATCH"),
        needle="DRIVER",
        check="driver.toolkit",
        code="cambricon.too_old",
        commands=("cnmon", "cat /usr/local/neuware/version.txt"),
    ),
    MessageRule(
        pattern=re.compile(
            r"\b(?:CNDEV_ERROR_NO_DEVICES|CN_ERROR_NO_DEVICE|cnrtErrorNoDevice)\b"
            r"|No MLU devices are available"
        ),
        needle="",
        check="container.mounts",
        code="cambricon.no_board",
        commands=("ls -l /dev/cambricon_*", RUN),
        disturbs=True,
        only_contained=True,
    ),
    MessageRule(
        pattern=re.compile(r"\bCNDEV_ERROR_NO_PERMISSION\b"),
        needle="CNDEV_ERROR_NO_PERMISSION",
        check="driver.nodes",
        code="cambricon.no_right",
        state=FindingState.WARN,
        commands=("ls -l /dev/cambricon_*",),
    ),
)
