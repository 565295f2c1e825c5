"""What messages of programs say of the libraries of Neuware, for the doctor."""

from __future__ import annotations

import re
from collections.abc import Mapping

from accelhal.spi.doctor import MessageRule, Text
from accelhal_cambricon.framework_install import SETUP

TEXTS: Mapping[str, Text] = {
    "said.no_neuware_library": Text(
        "{device}: {library} cannot be loaded",
        "Neuware is installed elsewhere than the loader looks, or not in this container.",
        "its lib64 on LD_LIBRARY_PATH before Python starts",
    ),
    "said.undefined_neuware_symbol": Text(
        "{device}: {library} lacks a symbol that it was built for",
        "torch_mlu and Neuware, or torch_mlu and torch, are of different releases.",
        "wheels and Neuware of one release",
    ),
}

MESSAGES = (
    MessageRule(
        pattern=re.compile(r"(?P<library>libcn(?:rt|nl|cl|drv|dev)\w*\.so[.\d]*): cannot open"),
        needle="cannot open",
        check="framework.libpath",
        code="said.no_neuware_library",
        commands=(*SETUP, "ls /usr/local/neuware/lib64"),
    ),
    MessageRule(
        pattern=re.compile(
            r"(?P<library>(?:libcn|libtorch_mlu|torch_mlu|libmluop)[\w.]*).{0,120}undefined symbol"
        ),
        needle="undefined symbol",
        check="framework.match",
        code="said.undefined_neuware_symbol",
        commands=("pip list | grep -i torch", "cat /usr/local/neuware/version.txt"),
    ),
)
