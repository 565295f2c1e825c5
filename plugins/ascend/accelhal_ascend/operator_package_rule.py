"""The doctor's framework.ops: are CANN's operators for this chip installed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from accelhal.facts import Finding, FindingState
from accelhal.spi.doctor import Check, DoctorFacts, MessageRule, NotShownError, Text

_ID = "framework.ops"

_HOMES = ("/usr/local/Ascend/ascend-toolkit/latest/opp", "/usr/local/Ascend/cann/opp")

_KERNELS = "built-in/op_impl/ai_core/tbe/kernel"
"""A folder for each chip's compiled operators; CANN 7 to 8.5."""

_NOT_CHIPS = frozenset({"config"})

_CHIPS = (
    ("ascend910b", r"910B[1-4]"),
    ("ascend910_93", r"910_93|910C"),
    ("ascend910", r"910(A|B|Pro[AB]|Premium[AB])?$"),
    ("ascend310p", r"310P"),
    ("ascend310b", r"310B"),
)
"""Folder -> names of its chips, as the tool and the runtime spell them; the first that fits."""

TEXTS: Mapping[str, Text] = {
    "ops.no_board": Text("no board that needs CANN's operators"),
    "ops.installed": Text("CANN has the operators for {chip}"),
    "ops.missing": Text(
        "CANN has no compiled operators for {chip}, but for {others}",
        "The toolkit and its operators are two packages; without the one for this chip every "
        "operator fails or is compiled on first use.",
        "the package of operators for {chip}",
    ),
    "ops.refused": Text(
        "{device}: an operator was not found in CANN's libraries",
        "The package with the operators for this chip is missing, or of another release than the "
        "toolkit.",
        "toolkit and operators of one release",
    ),
}


def _installer(chip: str) -> str:
    return f"./Ascend-cann-kernels-{chip}_<version>_linux-$(uname -m).run --install"


def _operators(facts: DoctorFacts) -> Iterator[Finding]:
    chips = {_folder(reading.board.name) for reading in facts.readings("npu")} - {""}
    if not chips:
        yield Finding(_ID, "ops.no_board", FindingState.OK)
        return
    look = tuple(f"ls {home}/{_KERNELS}" for home in _HOMES[:1])
    if not facts.live:
        raise NotShownError("the folder of CANN's operators", commands=look)
    named = facts.host.environ.get("ASCEND_OPP_PATH")
    folders = [named] if named else list(_HOMES)
    kernels = [path for home in folders for path in facts.host.glob(f"{home}/{_KERNELS}/*")]
    present = {PurePosixPath(path).name for path in kernels} - _NOT_CHIPS
    if not present:
        raise NotShownError("CANN's operators", "no folder of them was found", look)
    for chip in sorted(chips):
        if chip in present:
            yield Finding(_ID, "ops.installed", FindingState.OK, {"chip": chip}, "npu")
        else:
            yield Finding(
                _ID,
                "ops.missing",
                FindingState.FAIL,
                {"chip": chip, "others": ", ".join(sorted(present))},
                "npu",
                dict.fromkeys(kernels, "there"),
                (_installer(chip.removeprefix("ascend")), *look),
                needs_root=True,
            )


def _folder(name: str) -> str:
    return next((folder for folder, pattern in _CHIPS if re.search(pattern, name)), "")


_INSTALL = (f"ls {_HOMES[0]}/{_KERNELS}", _installer("<chip>"))

MESSAGES = tuple(
    MessageRule(
        pattern=re.compile(pattern),
        needle=needle,
        check=_ID,
        code="ops.refused",
        commands=_INSTALL,
        needs_root=True,
    )
    for pattern, needle in ((r"\bEZ1001\b", "EZ1001"), (r"aclnn\w+.{0,60}not in lib", "aclnn"))
)

OPERATORS = Check(
    _ID,
    "Framework",
    "CANN's package of compiled operators for the chip of these boards",
    ("ASCEND_OPP_PATH", *_HOMES),
    _operators,
    depends_on=("framework.libpath",),
    explanation="CANN's toolkit comes without compiled operators; each chip has a package of its "
    "own (Ascend-cann-kernels-910b and the like, of the toolkit's release). Operators for other "
    "chips only are a failure. Where no folder of operators is found, the answer is unknown: newer "
    "releases put them elsewhere.",
)
