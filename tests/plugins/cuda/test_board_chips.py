"""The architectures that product names stand for."""

from __future__ import annotations

import pytest
from accelhal_cuda.board_chips import chip_of
from accelhal_cuda.board_models import MODELS

NAMES = [(name, model.arch[0]) for model in MODELS.read() for name in model.names if model.arch]


@pytest.mark.parametrize(("name", "arch"), NAMES)
def test_names_and_published_models_agree(name: str, arch: str) -> None:
    assert chip_of(name) in (arch, None)


@pytest.mark.parametrize(
    ("name", "arch"),
    [
        ("NVIDIA GeForce GTX 1080 Ti", "sm_61"),
        ("NVIDIA GeForce GTX 1070", "sm_61"),
        ("Tesla P100-PCIE-16GB", "sm_60"),
        ("Tesla P40", "sm_61"),
        ("GeForce GTX TITAN X", "sm_52"),
        ("NVIDIA TITAN V", "sm_70"),
        ("Quadro RTX 6000", "sm_75"),
        ("NVIDIA RTX 6000 Ada Generation", "sm_89"),
        ("NVIDIA RTX A6000", "sm_86"),
        ("NVIDIA A100-SXM4-80GB", "sm_80"),
        ("NVIDIA GeForce RTX 5060 Ti", "sm_120"),
        ("", None),
        ("Some Board", None),
    ],
)
def test_names_of_families(name: str, arch: str | None) -> None:
    assert chip_of(name) == arch
