"""The board under a device, over torch_mlu's stand-in and CNDev together, for each form of the
variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from vendor_stacks.board_report import CODE, read_report
from vendor_stacks.mlu.standin import environment, python
from vendor_stacks.simulated_library import build

pytestmark = pytest.mark.slow

UUIDS = [f"33033011-2157-0000-0000-{number:012d}" for number in range(3)]
CONTAINER = "set 0 minor 2\nset 1 minor 5\nset 2 minor 7\n"


@pytest.fixture(scope="module")
def cndev(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("cndev/cndev.c", "libcndev.so", tmp_path_factory.mktemp("cndev"))


def report(
    neuware: Path,
    cndev: Path,
    received: str = "",
    *,
    scenario: str = CONTAINER,
    **variables: str,
) -> dict[str, Any]:
    lines = ["boards 3", *(f"set {n} uuid {uuid}" for n, uuid in enumerate(UUIDS)), scenario]
    file = cndev.with_name("scenario")
    file.write_text("\n".join(lines))
    driver = {"ACCELHAL_CNDEV_LIBRARY": str(cndev), "SIM_SCENARIO": str(file)}
    environ = environment(neuware, MLU_STANDIN_BOARDS="3", **driver, **variables)
    ended = python(CODE.format(backend="mlu", received=received), environ)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return read_report(ended.stdout)


@pytest.mark.parametrize(
    ("variables", "boards"),
    [
        ({}, [0, 1, 2]),
        ({"CN_VISIBLE_DEVICES": "1"}, [1]),
        ({"MLU_VISIBLE_DEVICES": "2,0"}, [2, 0]),
        ({"CN_VISIBLE_DEVICES": "2", "MLU_VISIBLE_DEVICES": "1"}, [2]),
        ({"CN_VISIBLE_DEVICES": f"{UUIDS[2]},{UUIDS[0]}"}, [2, 0]),
        ({"CN_VISIBLE_DEVICES": f"{UUIDS[1]},{UUIDS[1]}"}, []),
        ({"CN_VISIBLE_DEVICES": f"{UUIDS[1]},{UUIDS[2][:-3]}"}, [1]),
        ({"CN_VISIBLE_DEVICES": ""}, []),
        ({"MLU_VISIBLE_DEVICES": "1,9,0"}, [1]),
        ({"MLU_VISIBLE_DEVICES": "1,1"}, []),
    ],
    ids=repr,
)
def test_each_form_of_the_variables(
    neuware: Path, cndev: Path, variables: dict[str, str], boards: list[int]
) -> None:
    seen = report(neuware, cndev, **variables)
    assert seen["boards"] == boards
    assert seen["without_torch"] == [*boards, None, None, None][:3]


def test_another_vendors_variable_is_no_ground_to_guess_on(neuware: Path, cndev: Path) -> None:
    seen = report(neuware, cndev, CUDA_VISIBLE_DEVICES="1,0")
    assert (seen["boards"], seen["without_torch"]) == ([None, None], [None] * 3)
    assert all("is not known" in why for why in seen["reasons"])


def test_boards_of_two_models(neuware: Path, cndev: Path) -> None:
    seen = report(neuware, cndev, scenario="set 1 name MLU370-S4\n", CN_VISIBLE_DEVICES="1,0")
    assert seen["boards"] == seen["without_torch"][:2] == [1, 0]


def test_a_driver_that_fails_is_the_reason(neuware: Path, cndev: Path) -> None:
    seen = report(neuware, cndev, scenario="fail * cndevInit 2\n")
    assert seen["boards"] == [None] * 3
    assert all("cndevInit" in why or "driver" in why for why in seen["reasons"])


def test_a_device_is_sent_to_a_process_that_names_boards_in_another_way(
    neuware: Path, cndev: Path
) -> None:
    sent = report(neuware, cndev, CN_VISIBLE_DEVICES=f"{UUIDS[2]},{UUIDS[0]}")["pickled"]
    there = {"CN_VISIBLE_DEVICES": "1,2"}
    assert report(neuware, cndev, sent[0], **there)["bound"] == "mlu:1"
    missing = report(neuware, cndev, sent[1], **there)["bound"]
    assert missing.startswith("DeviceNotFoundError")
    assert "is not visible" in missing


def test_a_device_whose_board_is_not_known_is_bound_by_index_under_one_variable_alone(
    neuware: Path, cndev: Path
) -> None:
    unknown = {"CUDA_VISIBLE_DEVICES": "1,0"}
    sent = report(neuware, cndev, **unknown)["pickled"]
    assert report(neuware, cndev, sent[1], **unknown)["bound"] == "mlu:1"
    refused = report(neuware, cndev, sent[1], CUDA_VISIBLE_DEVICES="0,1")["bound"]
    assert refused.startswith("DeviceNotFoundError")
    assert "differ" in refused
