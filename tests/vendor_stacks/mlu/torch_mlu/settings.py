"""What the environment chooses of the stand-in; each variable has a default."""

from __future__ import annotations

import os
from dataclasses import dataclass

FORMS = {"1.25": "1.25.0-torch2.4.1", "1.33": "1.33.1+torch2.11.0"}
"""Form of the interface -> the torch_mlu version it was recorded from."""


@dataclass(frozen=True)
class Settings:
    """The stand-in's variables.

    Attributes:
        form: MLU_STANDIN_FORM, the interface to show: "1.25" or "1.33".
        boards: MLU_STANDIN_BOARDS, how many boards the host has.
        product: MLU_STANDIN_PRODUCT, a profile of accelhal-mock.
        cndev: MLU_STANDIN_CNDEV, whether libcndev.so can be loaded to count devices.
    """

    form: str
    boards: int
    product: str
    cndev: bool


def read_settings() -> Settings:
    """The settings of this process."""
    form = os.environ.get("MLU_STANDIN_FORM", "1.25")
    if form not in FORMS:
        raise ValueError(f"MLU_STANDIN_FORM={form!r} is none of {', '.join(FORMS)}")
    return Settings(
        form=form,
        boards=int(os.environ.get("MLU_STANDIN_BOARDS", "2")),
        product=os.environ.get("MLU_STANDIN_PRODUCT", "mlu590"),
        cndev=os.environ.get("MLU_STANDIN_CNDEV", "1") == "1",
    )
