"""Which drivers, toolkits, torch and torch_mlu were seen to work together: compatibility.json.

Cambricon publishes no table of drivers and toolkits: what is not listed here may well work.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from accelhal.facts.compatibility import Compatibility, PairState, PairVerdict
from accelhal.spi.compatibility_tables import CompatibilityTables, read_compatibility
from accelhal.spi.known_pairs import judge_pair
from accelhal.spi.versions import release_numbers

COMPONENTS = {
    "driver": 'the driver ("6.2.10")',
    "torch": 'with or without its local part ("2.7.1+cpu")',
    "torch_mlu": 'the adapter, with the torch that it was built for ("1.22.2+torch2.1.0")',
    "cntoolkit": "the toolkit",
    "neuware": "the whole software stack",
    "cnnl": "operator library",
    "cncl": "collective library",
    "cnnlextra": "operator library, extra part",
    "cnrt": "runtime library",
    "cncc": "compiler",
    "cndev": "management library",
    "mlu_ops": "operator library in source",
    "triton": "Triton for MLU",
    "sdk": "CTR-SDK",
    "paddlepaddle": "PaddlePaddle",
    "mlu_exporter": "mlu-exporter, or the device plugin for Kubernetes",
    "smlu": 'the slices that processes share ("1" where they are in use)',
    "board": 'one board\'s model ("MLU370-X8")',
}

_PAIRS = (
    *(("torch_mlu", part) for part in ("driver", "cntoolkit", "neuware", "cnnl", "cncl")),
    *(("torch_mlu", part) for part in ("cnnlextra", "cnrt", "mlu_ops", "triton", "sdk")),
    *(("mlu_ops", part) for part in ("driver", "cntoolkit", "cnnl")),
    *(("paddlepaddle", part) for part in ("driver", "cntoolkit", "cnnl", "sdk")),
    *(("mlu_exporter", part) for part in ("driver", "cndev")),
    *(("smlu", part) for part in ("driver", "cndev")),
    ("neuware", "driver"),
    ("neuware", "cncc"),
)

_BUILT_FOR = re.compile(r"[-+]torch([0-9]{1,4}(?:\.[0-9]{1,4}){1,3})")


@cache
def rows() -> Compatibility:
    """The rows of compatibility.json."""
    return read_compatibility(Path(__file__).with_suffix(".json"))


def judge(found: Mapping[str, str]) -> tuple[PairVerdict, ...]:
    """What is known of components as found; see COMPONENTS."""
    known_good = rows().sets["known_good"]
    verdicts = (_torch(found), *(judge_pair(known_good, found, *pair) for pair in _PAIRS))
    return tuple(one for one in verdicts if one is not None)


def _torch(found: Mapping[str, str]) -> PairVerdict | None:
    """The torch that the adapter's version names, else what was seen to work with it."""
    built_for = _BUILT_FOR.search(found.get("torch_mlu", ""))
    if built_for is None or not release_numbers(found.get("torch", "")):
        return judge_pair(rows().sets["known_good"], found, "torch_mlu", "torch")
    same = release_numbers(found["torch"])[:3] == release_numbers(built_for[1])[:3]
    return PairVerdict(
        left="torch_mlu",
        right="torch",
        found={"torch_mlu": found["torch_mlu"], "torch": found["torch"]},
        state=PairState.OK if same else PairState.MISMATCH,
        rule="pinned",
        change=None if same else "torch",
        wanted=() if same else (built_for[1],),
        partners=(built_for[1],),
        sources=tuple(row.source for row in rows().sets["one_release"]),
    )


COMPATIBILITY = CompatibilityTables(rows, judge, COMPONENTS)
