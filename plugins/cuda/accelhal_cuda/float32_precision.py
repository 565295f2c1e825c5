"""How torch.cuda computes float32 products: one answer for matrix products and cuDNN together.

torch >= 2.9 keeps a setting per operator (`fp32_precision`), older ones a flag per library
(`allow_tf32`); see https://docs.pytorch.org/docs/stable/notes/cuda.html (TensorFloat-32).
"""

from __future__ import annotations

from typing import Any

import torch

from accelhal.runtimes.torch_features import precision_settings

CHOICES = ("ieee", "tf32")


def get_float32_precision() -> str:
    """What holds for every product: "ieee" where all are; torch's default leaves cuDNN at TF32."""
    settings = _settings()
    if settings:
        reduced = any(setting.fp32_precision == "tf32" for setting in settings)
    else:
        backends: Any = torch.backends
        reduced = backends.cuda.matmul.allow_tf32 or backends.cudnn.allow_tf32
    return "tf32" if reduced else "ieee"


def set_float32_precision(precision: str) -> None:
    """Choose for matrix products, convolutions and recurrent layers, for the whole process.

    Raises:
        ValueError: not one of CHOICES.
    """
    if precision not in CHOICES:
        raise ValueError(f"torch.cuda knows {' and '.join(CHOICES)}")
    backends: Any = torch.backends
    # The older flags go first and are kept in step: once the two forms disagree, torch raises
    # whenever a library reads the older one.
    backends.cuda.matmul.allow_tf32 = precision == "tf32"
    backends.cudnn.allow_tf32 = precision == "tf32"
    for setting in _settings():
        setting.fp32_precision = precision


def _settings() -> tuple[Any, ...]:
    """The settings per operator; empty where torch has only the older flags."""
    return precision_settings("cuda.matmul", "cudnn.conv", "cudnn.rnn")
