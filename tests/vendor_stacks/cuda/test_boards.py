"""The board under a device, over torch.cuda and NVML together, for each form of the variable."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from vendor_stacks.board_report import CODE, read_report
from vendor_stacks.cuda.boards import board_uuid
from vendor_stacks.cuda.process import nvidia_host, run_python
from vendor_stacks.cuda.settings import Settings
from vendor_stacks.simulated_library import build

pytestmark = pytest.mark.slow

UUIDS = [f"GPU-{board_uuid(number)}" for number in range(3)]
MODELS = ("h100", "a100-80g", "h100")
NAMES = ("NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3")
BUS_ORDER = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


@pytest.fixture(scope="module")
def stack(stack: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The same with three boards of one model, and NVML."""
    host = nvidia_host(tmp_path_factory.mktemp("three"), boards=3)
    return dataclasses.replace(stack, host=str(host), boards=("h100",) * 3, nvml=True)


@pytest.fixture(scope="module")
def nvml(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("nvml/nvml.c", "libnvidia-ml.so.1", tmp_path_factory.mktemp("nvml"))


def report(
    stack: Settings,
    nvml: Path,
    received: str = "",
    *,
    mixed: bool = False,
    scenario: str = "",
    **variables: str,
) -> dict[str, Any]:
    """What a process with three boards says; their nodes under /dev are 2, 5 and 7."""
    lines = ["boards 3", *(f"set {n} uuid {UUIDS[n]}" for n in range(3))]
    lines += [f"set {n} minor {minor}" for n, minor in enumerate((2, 5, 7))]
    lines += [f"set {n} name {name}" for n, name in enumerate(NAMES) if mixed]
    file = nvml.with_name("scenario")
    file.write_text("\n".join([*lines, scenario, ""]))
    told = dataclasses.replace(stack, boards=MODELS) if mixed else stack
    places = {"LD_LIBRARY_PATH": str(nvml.parent), "SIM_SCENARIO": str(file)}
    code = CODE.format(backend="cuda", received=received)
    return read_report(run_python(code, told, **places, **variables))


@pytest.mark.parametrize(
    ("mask", "boards"),
    [
        (None, [0, 1, 2]),
        ("1", [1]),
        ("2,0", [2, 0]),
        (UUIDS[2], [2]),
        (f"{UUIDS[1]},{UUIDS[0]}", [1, 0]),
        (f"{UUIDS[1][:12]},{UUIDS[2][:10]}", [1, 2]),
        (f"{UUIDS[1]},GPU-00000000", [1]),
        (f"{UUIDS[1]},{UUIDS[1][:12]}", []),
        ("", []),
        ("1,9,0", [1]),
        ("1,1", []),
        ("1,-1,0", [1]),
        ("9", []),
    ],
    ids=repr,
)
def test_each_form_of_the_variable(
    stack: Settings, nvml: Path, mask: str | None, boards: list[int]
) -> None:
    seen = report(stack, nvml, **({} if mask is None else {"CUDA_VISIBLE_DEVICES": mask}))
    assert seen["boards"] == boards
    assert seen["without_torch"] == [*boards, None, None, None][:3]


@pytest.mark.parametrize(
    ("variables", "with_torch", "without"),
    [
        ({}, [0, 1, 2], [None, None, None]),
        ({"CUDA_DEVICE_ORDER": "FASTEST_FIRST"}, [0, 1, 2], [None, None, None]),
        (BUS_ORDER, [0, 1, 2], [0, 1, 2]),
        ({**BUS_ORDER, "CUDA_VISIBLE_DEVICES": "2,1"}, [2, 1], [2, 1, None]),
        ({"CUDA_VISIBLE_DEVICES": f"{UUIDS[2]},{UUIDS[1]}"}, [2, 1], [2, 1, None]),
    ],
    ids=repr,
)
def test_boards_of_two_models(
    stack: Settings,
    nvml: Path,
    variables: dict[str, str],
    with_torch: list[int],
    without: list[int | None],
) -> None:
    """torch tells UUIDs; without it the order is known by bus, or where UUIDs are named."""
    seen = report(stack, nvml, mixed=True, **variables)
    assert (seen["boards"], seen["without_torch"]) == (with_torch, without)


@pytest.mark.parametrize(
    ("reports_pci", "variables", "boards"),
    [
        (True, {"CUDA_VISIBLE_DEVICES": "2,0"}, [2, 0]),
        (False, {"CUDA_VISIBLE_DEVICES": "2,0", **BUS_ORDER}, [2, 0]),
        (False, {"CUDA_VISIBLE_DEVICES": UUIDS[1]}, [1]),
        (False, {"CUDA_VISIBLE_DEVICES": UUIDS[1][:12]}, [None]),
    ],
    ids=["address", "place", "whole UUID", "abbreviated"],
)
def test_a_torch_that_tells_no_uuid(
    stack: Settings,
    nvml: Path,
    reports_pci: bool,
    variables: dict[str, str],
    boards: list[int | None],
) -> None:
    older = dataclasses.replace(stack, missing_properties=("uuid",), reports_pci=reports_pci)
    seen = report(older, nvml, **variables)
    assert seen["boards"] == boards
    assert all(
        (board is None) == bool(why) for board, why in zip(boards, seen["reasons"], strict=True)
    )


def test_a_driver_that_fails_is_the_reason(stack: Settings, nvml: Path) -> None:
    seen = report(stack, nvml, scenario="fail * init 9")
    assert seen["boards"] == [None] * 3
    assert all("Driver Not Loaded" in why for why in seen["reasons"])


def test_a_device_is_sent_to_a_process_that_sees_other_boards(stack: Settings, nvml: Path) -> None:
    sent = report(stack, nvml, CUDA_VISIBLE_DEVICES="2,0")["pickled"]
    there = {"CUDA_VISIBLE_DEVICES": f"{UUIDS[1]},{UUIDS[2]}"}
    assert report(stack, nvml, sent[0], **there)["bound"] == "cuda:1"
    missing = report(stack, nvml, sent[1], **there)["bound"]
    assert missing.startswith("DeviceNotFoundError")
    assert "is not visible" in missing


def test_a_variable_that_is_changed_later_moves_no_device(stack: Settings, nvml: Path) -> None:
    code = """
import os, accelhal
one, other = accelhal.devices("cuda")
os.environ["CUDA_VISIBLE_DEVICES"] = "0"
print(one.location.key.value, other.location.key.value)
"""
    older = dataclasses.replace(stack, missing_properties=("uuid",))
    shown = run_python(code, older, CUDA_VISIBLE_DEVICES="2,1", **BUS_ORDER)
    assert shown.splitlines()[-1] == "2 1"
