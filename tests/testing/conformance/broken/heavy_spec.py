"""A spec whose module imports torch."""

import torch
from accelhal_mock.spec import SPEC

assert torch.__version__
__all__ = ["SPEC"]
