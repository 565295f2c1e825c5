"""What messages of programs say of chips, builds and who holds them, for the doctor."""

from __future__ import annotations

import re
from collections.abc import Mapping

from accelhal.spi.doctor import MessageRule, Text
from accelhal_ascend.error_numbers import error_number
from accelhal_ascend.framework_install import SETUP

_VERSIONS = (
    "cat /usr/local/Ascend/driver/version.info",
    "cat /usr/local/Ascend/ascend-toolkit/latest/version.cfg",
    "pip list | grep -i torch",
)

TEXTS: Mapping[str, Text] = {
    "said.no_library": Text(
        "{device}: {library} cannot be loaded",
        "CANN is installed elsewhere than the loader looks, or its script was not sourced in this "
        "shell.",
        "set_env.sh of the toolkit sourced before Python starts",
    ),
    "said.undefined_symbol": Text(
        "{device}: {library} lacks a symbol that it was built for",
        "torch_npu and CANN, or torch_npu and torch, are of different lines.",
        "the release of CANN that torch_npu was built for",
    ),
    "said.invalid_device": Text(
        "{device}: a program asked for a device that it does not have (107001)",
        "ASCEND_RT_VISIBLE_DEVICES counts the devices of this container, from 0, not the host's.",
        "numbers below the count of /dev/davinci* here",
    ),
    "said.in_use": Text(
        "{device}: the driver says that a device is in use elsewhere ({error})",
        "The driver gives a device to one container at a time: the node is mapped, and another "
        "container holds it. The driver's variables missing in the image look the same.",
        "the device in one container only",
    ),
    "said.not_started": Text(
        "{device}: a device does not start (507033)",
        "Driver, firmware and CANN do not fit one another, the chip is not healthy, or another "
        "process holds it.",
        "versions that go together, and a healthy chip",
    ),
}

MESSAGES = (
    MessageRule(
        pattern=re.compile(
            r"(?P<library>lib(?:hccl|ascendcl|acl\w*|ge_\w+|runtime|opapi)\.so[.\d]*): cannot open"
        ),
        needle="cannot open",
        check="framework.libpath",
        code="said.no_library",
        commands=(*SETUP, "echo $ASCEND_HOME_PATH $LD_LIBRARY_PATH"),
    ),
    MessageRule(
        pattern=re.compile(
            r"(?P<library>lib(?:tbe_adapter|hccl|ascend\w*|torch_npu|acl\w*|ge_\w+|op\w*)[\w.]*)"
            r".{0,120}undefined symbol"
        ),
        needle="undefined symbol",
        check="framework.match",
        code="said.undefined_symbol",
        commands=_VERSIONS,
    ),
    MessageRule(
        pattern=error_number("107001"),
        needle="107001",
        check="device.mask",
        code="said.invalid_device",
        commands=("ls /dev/davinci[0-9]*", "unset ASCEND_RT_VISIBLE_DEVICES"),
    ),
    MessageRule(
        pattern=error_number("-80(?:05|20)"),
        needle="-80",
        check="device.busy",
        code="said.in_use",
        commands=(
            "npu-smi info",
            "docker ps --format '{{.ID}} {{.Names}}'",
            "echo $LD_LIBRARY_PATH | tr : '\\n' | grep Ascend/driver",
        ),
    ),
    MessageRule(
        pattern=error_number("507033"),
        needle="507033",
        check="device.open",
        code="said.not_started",
        commands=(
            *_VERSIONS[:2],
            "npu-smi info -t health -i 0",
            "npu-smi info",
            "npu-smi set -t reset -i 0 -c 0",
        ),
        needs_root=True,
        disturbs=True,
    ),
)
