"""What lines of programs, the loader and npu-smi say of driver, libraries and containers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from accelhal.spi.doctor import MessageRule, Text
from accelhal_ascend.error_numbers import error_number
from accelhal_ascend.installing import RUN

TEXTS: Mapping[str, Text] = {
    "ascend.no_library": Text(
        "{device}: the driver's library {library} is not found",
        "The driver is not installed, its folder is not mounted into the container, or the loader "
        "does not look there.",
        "the loader finds it in /usr/local/Ascend/driver/lib64",
    ),
    "ascend.hal": Text(
        "{device}: error 507008: the chip's type cannot be read",
        "The runtime does not reach the driver through libascend_hal.so: it is not mounted, a stub "
        "of the toolkit, or of another release than the driver.",
        "libascend_hal.so of the loaded driver, from /usr/local/Ascend/driver/lib64",
    ),
    "ascend.driver_call": Text(
        "{device}: the driver does not answer the runtime (drvRetCode 87)",
        "Driver and toolkit do not go together, or the container was not given the boards.",
        "a driver that goes with the toolkit, and its nodes",
    ),
    "ascend.too_old": Text(
        "{device}: error 207019: the driver is too old for the toolkit",
        "The toolkit calls functions that this driver does not have.",
        "a driver of the release that the toolkit names",
    ),
    "ascend.symbol": Text(
        "{device}: the driver's library has no {symbol}",
        "The library is of another release than the program was built for.",
        "driver and program of releases that go together",
    ),
}

_LOST_LIBRARY = re.compile(
    r"^(?=.*(?:cannot open|not found|No such file)).*?"
    r"\b(?P<library>lib(?:ascend_hal|dcmi|drvdsmi_host)\.so)"
)

_LOOK = (
    "ls -l /usr/local/Ascend/driver/lib64/driver/libascend_hal.so",
    "ldconfig -p | grep libascend_hal",
)

MESSAGES: tuple[MessageRule, ...] = (
    MessageRule(
        pattern=_LOST_LIBRARY,
        needle="lib",
        check="container.mounts",
        code="ascend.no_library",
        commands=(RUN, *_LOOK),
        disturbs=True,
        only_contained=True,
    ),
    MessageRule(
        pattern=_LOST_LIBRARY,
        needle="lib",
        check="driver.userlib",
        code="ascend.no_library",
        commands=(*_LOOK, RUN),
        only_contained=False,
    ),
    MessageRule(
        pattern=error_number("507008"),
        needle="507008",
        check="driver.userlib",
        code="ascend.hal",
        commands=(*_LOOK, "cat /usr/local/Ascend/driver/version.info", RUN),
    ),
    MessageRule(
        pattern=re.compile(r"\bdrv(?:Ret|RetCode|Err)\s*=\s*87\b"),
        needle="drv",
        check="driver.toolkit",
        code="ascend.driver_call",
        commands=("cat /usr/local/Ascend/driver/version.info", "npu-smi info", RUN),
    ),
    MessageRule(
        pattern=error_number("207019"),
        needle="207019",
        check="driver.toolkit",
        code="ascend.too_old",
        commands=("cat /usr/local/Ascend/driver/version.info",),
    ),
    MessageRule(
        pattern=re.compile(r"undefined symbol: (?P<symbol>(?:dcmi|hal[A-Z]|drv[A-Z])\w*)"),
        needle="undefined symbol: ",
        check="driver.userlib",
        code="ascend.symbol",
        commands=(*_LOOK, "cat /usr/local/Ascend/driver/version.info"),
    ),
)
