"""Which model a board is."""

from __future__ import annotations

import pytest
from accelhal_ascend.board_models import MODELS

from accelhal.facts import BoardInfo
from accelhal.facts.models import BoardModel
from accelhal.management.models import board_model, matching

GIB = 1 << 30


def board(name: str, memory: int | None = None, backend: str | None = "cuda") -> BoardInfo:
    return BoardInfo(None, "Example", name, backend, "a test", total_memory=memory)


def found(model: BoardModel | None) -> str | None:
    return None if model is None else model.id


@pytest.mark.parametrize(
    ("backend", "name", "model"),
    [
        ("cuda", "NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"),
        ("cuda", "A100-SXM4-80GB", "a100-sxm4-80gb"),
        ("npu", "910B3", "ascend-910b3"),
        ("npu", "Ascend910B3", "ascend-910b3"),
        ("mlu", "MLU370-X8", "mlu370-x8"),
        ("mock", "NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"),
    ],
)
def test_a_board_is_known_by_its_drivers_name(backend: str, name: str, model: str) -> None:
    assert found(board_model(board(name, backend=backend))) == model


@pytest.mark.parametrize(
    "name", ["NVIDIA A100", "NVIDIA A100-SXM4-80GB MIG 1g.10gb", "nvidia a100-sxm4-80gb", "", "T4"]
)
def test_names_are_compared_whole(name: str) -> None:
    assert board_model(board(name)) is None


@pytest.mark.parametrize("backend", [None, "cpu", "no-such"])
def test_a_backend_without_a_table_knows_no_model(backend: str | None) -> None:
    assert board_model(board("NVIDIA A100-SXM4-80GB", backend=backend)) is None


@pytest.mark.parametrize(
    ("name", "memory", "model"),
    [
        ("310P3", 21527 << 20, "ascend-310p3-300i-pro"),
        ("310P3", 44 * GIB, "ascend-310p3-300i-duo"),
        ("310P3", None, None),
        ("310P3", 8 * GIB, None),
        ("Ascend910_9382", 64 * GIB, "ascend-910c-die"),
        ("910B4", None, "ascend-910b4"),
    ],
)
def test_memory_tells_models_of_one_name_apart(
    name: str, memory: int | None, model: str | None
) -> None:
    assert found(matching(MODELS.read(), board(name, memory))) == model
